"""What if a term may not be there? As a marimo notebook: ``marimo edit examples/notebooks/what_if.py``."""

import marimo

app = marimo.App(width="medium")


@app.cell
def _():
    import marimo as mo

    import exactsindy as es

    return es, mo


@app.cell
def _(mo):
    mo.md(
        """
        # What if?

        The Lorenz system, measured with noise: 2500 samples, 56 candidate terms per equation. The regression is made
        once; then every question about it is answered, and the answer proved, in milliseconds.
        """
    )
    return


@app.cell
def _(es):
    data = es.datasets.dataset("lorenz")
    problem = es.StrongForm().problem(data, es.Polynomials(5))
    sizes = {"x": 2, "y": 3, "z": 2}
    solution = es.solve(problem, sizes)
    solution
    return data, problem, sizes, solution


@app.cell
def _(mo):
    mo.md("Forbid the product `x z` in the second equation, and ask again. Choose another term to forbid:")
    return


@app.cell
def _(mo, solution):
    forbidden = mo.ui.dropdown(list(solution.terms["y'"]), value="x z", label="forbid in y'")
    forbidden
    return (forbidden,)


@app.cell
def _(es, forbidden, problem, sizes):
    without = es.solve(problem, sizes, constraints=[es.constraints.Forbid("y'", forbidden.value)])
    without
    return (without,)


@app.cell
def _(mo, solution, without):
    worse = without.objective[1] / solution.objective[1]
    mo.md(f"Without it the squared residual of y' is **{worse:.3g} times** as large: the best that is left, proved.")
    return (worse,)


if __name__ == "__main__":
    app.run()
