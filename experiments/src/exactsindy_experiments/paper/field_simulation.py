"""The fields of the published experiments, simulated by their methods and steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exactsindy.errors import DataError
from exactsindy.systems import find_field_system

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Rng = np.random.RandomState

#: Grid points per axis. The simulation of Kuramoto-Sivashinsky has period 32 pi; the published mesh says 100.
POINTS = {"kuramoto_sivashinsky": 1024, "reaction_diffusion": 256}
KS_STEP, KS_STEPS = 0.1, 250
RD_TIMES = np.linspace(0, 5, 250)
_CONTOUR = 16


def kuramoto_sivashinsky(rng: Rng) -> Array:
    """Return the field (x, t): exponential time differencing of fourth order with fixed steps.

    The coefficients are means over a circle in the complex plane, which avoids their cancellation near zero.
    """
    n, h = POINTS["kuramoto_sivashinsky"], KS_STEP
    system = find_field_system("kuramoto_sivashinsky")
    (u,) = system.initial(rng, (np.zeros(n),))
    k = np.fft.fftfreq(n, 1 / n) / 16
    k[n // 2] = 0
    linear = k**2 - k**4
    full, half = np.exp(h * linear), np.exp(h * linear / 2)
    circle = h * linear[:, None] + np.exp(1j * np.pi * (np.arange(1, _CONTOUR + 1) - 0.5) / _CONTOUR)
    grown = np.exp(circle)

    def mean(values: Complex) -> Array:
        return np.asarray(h * np.real(values.mean(axis=1)))

    q = mean((np.exp(circle / 2) - 1) / circle)
    f1 = mean((-4 - circle + grown * (4 - 3 * circle + circle**2)) / circle**3)
    f2 = mean((2 + circle + grown * (-2 + circle)) / circle**3)
    f3 = mean((-4 - 3 * circle - circle**2 + grown * (4 - circle)) / circle**3)

    def rest(waves: Complex) -> Complex:
        return -0.5j * k * np.fft.fft(np.real(np.fft.ifft(waves)) ** 2)

    v, found = np.fft.fft(u), [u]
    for _ in range(KS_STEPS):
        at_v = rest(v)
        a = half * v + q * at_v
        at_a = rest(a)
        at_b = rest(half * v + q * at_a)
        at_c = rest(half * a + q * (2 * at_b - at_v))
        v = full * v + at_v * f1 + 2 * (at_a + at_b) * f2 + at_c * f3
        found.append(np.real(np.fft.ifft(v)))
    return np.array(found).T


def reaction_diffusion_start(rng: Rng) -> tuple[Array, Array]:
    """Return both fields at the start, x along the second axis: the published code lays the spiral so.

    The law is the same in x and y, but the noise that is added later falls on other cells.
    """
    system = find_field_system("reaction_diffusion")
    n, length = POINTS["reaction_diffusion"], system.lengths["x"]
    axis = length * np.arange(n) / n
    u, v = system.initial(rng, tuple(np.meshgrid(axis, axis, indexing="ij")))
    return u.T, v.T


def reaction_diffusion(rng: Rng) -> Array:
    """Return both fields (x, y, t, 2): Fourier modes by RK45 at its default tolerances."""
    from scipy.fft import irfft2, rfft2
    from scipy.integrate import solve_ivp  # loaded when needed, as everywhere

    system = find_field_system("reaction_diffusion")
    n, length = POINTS["reaction_diffusion"], system.lengths["x"]
    d, beta = system.truth["u_t"]["u_xx"], system.truth["u_t"]["v^3"]
    u, v = reaction_diffusion_start(rng)
    k = 2 * np.pi / length * np.fft.fftfreq(n, 1 / n)
    decay = d * (k[:, None] ** 2 + k[None] ** 2)
    half = n // 2 + 1
    # The state is all modes, as published (its norm steers the steps); fields are real, so half of them say it all.

    def modes(fields: Array) -> Complex:
        waves = np.empty((2, n, n), dtype=complex)
        waves[..., :half] = rfft2(fields)
        mirrored = waves[..., n - half : 0 : -1]
        np.conj(mirrored[:, 0], out=waves[:, 0, half:])
        np.conj(mirrored[:, :0:-1], out=waves[:, 1:, half:])
        return waves

    def rate(t: float, state: Complex) -> Complex:
        waves = state.reshape(2, n, n)
        u, v = irfft2(waves[..., :half], s=(n, n))
        size = u**2 + v**2
        fields = np.empty((2, n, n))
        np.add(u, (beta * v - u) * size, out=fields[0])
        np.subtract(v, (v + beta * u) * size, out=fields[1])
        change = modes(fields)
        change -= decay * waves
        return change.ravel()

    start = modes(np.stack([u, v])).ravel()
    run = solve_ivp(rate, (RD_TIMES[0], RD_TIMES[-1]), start, t_eval=RD_TIMES)
    if not run.success:
        raise DataError(f"reaction_diffusion: the simulation stopped ({run.message}).")
    waves = run.y.reshape(2, n, n, -1)[:, :, :half]
    return np.stack([irfft2(part, s=(n, n), axes=(0, 1)) for part in waves], axis=-1)
