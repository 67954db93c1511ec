"""First steps, as a marimo notebook: ``marimo edit examples/notebooks/first_steps.py``."""

import marimo

app = marimo.App(width="medium")


@app.cell
def _():
    import marimo as mo
    import numpy as np

    import exactsindy as es

    return es, mo, np


@app.cell
def _(mo):
    mo.md(
        """
        # First steps

        A swing was filmed: its angle and its rate, every 0.05 s, with 0.01 of noise. Which law moves it?
        """
    )
    return


@app.cell
def _(es, np):
    t = np.arange(0.0, 12.0, 0.05)
    truth = es.Model.from_coefficients({"angle'": {"rate": 1.0}, "rate'": {"angle": -4.0, "rate": -0.2}})
    swing = truth.simulate({"angle": 1.0, "rate": 0.0}, t).x
    measured = swing + 0.01 * np.random.default_rng(0).normal(size=swing.shape)
    return measured, t


@app.cell
def _(es, measured, t):
    found = es.discover(measured, t, states=("angle", "rate"), degree=2, threads=1)
    found
    return (found,)


@app.cell
def _(mo):
    mo.md("The verdict comes first, then what it rests on. The fit, and what other laws would fit:")
    return


@app.cell
def _(found):
    picture = found.plot()[0].figure
    picture
    return (picture,)


@app.cell
def _(found):
    rivals = found.pool.to_pandas()
    rivals
    return (rivals,)


@app.cell
def _(mo):
    mo.md("Numbers to go on with: a table of the coefficients, and a run from another start.")
    return


@app.cell
def _(found, t):
    table = found.coefficients.to_pandas()
    run = found.simulate({"angle": 0.5, "rate": 1.0}, t).to_pandas()
    table
    return run, table


if __name__ == "__main__":
    app.run()
