"""Integration by parts of library terms."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.forms.weak.by_parts import ByParts
from exactsindy.library import Terms, Variables


@pytest.mark.parametrize(
    "name", ["u_xx", "u^2 u_x", "u v_xx", "u v_xy", "x u_x", "u u_xxxx", "sin(u) v_yy", "u_x^2", "x u v_xx"]
)
def test_integration_by_parts_is_an_identity(name):
    n = 48
    x = 2 * np.pi * np.arange(n) / n
    u = {"u": (np.sin(x)[:, None] + np.cos(x)) / 3, "v": np.cos(x[:, None] - x) / 2}
    # A test function that vanishes at the ends of the period, as x is not periodic.
    phi = np.sin(x / 2)[:, None] ** 12 * np.cos(x) ** 0

    def along(values, axes):
        for axis in axes:
            k = 1j * np.fft.fftfreq(n, 1 / n)
            shape = (-1, 1) if axis == "x" else (1, -1)
            values = np.fft.ifft2(np.fft.fft2(values) * k.reshape(shape)).real
        return values

    variables = Variables(("u", "v"), axes=("x", "y"))
    term = Terms([name]).terms(variables)[0]

    def value(term):
        from exactsindy.library import Features

        features = Features(variables, (term,))
        inputs = [
            along(u[v.name], v.axes) if v.name in u else np.broadcast_to(x[:, None], (n, n)) for v in features.inputs
        ]
        return features.rows(inputs).reshape(n, n)

    direct = (phi * value(term)).sum()
    parts = ByParts(("x", "y"), ("u", "v")).full(term)
    moved = sum(
        part.factor * (along(phi, "x" * part.orders[0] + "y" * part.orders[1]) * value(part.integrand)).sum()
        for part in parts
    )
    assert moved == pytest.approx(direct, rel=1e-9, abs=1e-9)
    highest = max((len(v.axes) for part in parts for v in part.integrand.variables()), default=0)
    assert highest <= {"u_xx": 0, "u^2 u_x": 0, "x u_x": 0, "u u_xxxx": 2}.get(name, 1)
