"""The paper's hardest regression, 2D reaction-diffusion in weak form (109 terms, 7 per equation), at growing noise.

Prints a Markdown table: ``python benchmarks/reaction_diffusion.py > docs/benchmarks/reaction_diffusion.md``. Gurobi is
not in it: its free licence refuses more than 100 terms.
"""

import numpy as np

import exactsindy as es

LAW = {
    "u_t": {"u": 1.0, "u^3": -1.0, "u v^2": -1.0, "u^2 v": 1.0, "v^3": 1.0, "u_xx": 0.1, "u_yy": 0.1},
    "v_t": {"v": 1.0, "u^2 v": -1.0, "v^3": -1.0, "u^3": -1.0, "u v^2": -1.0, "v_xx": 0.1, "v_yy": 0.1},
}
LENGTH, POINTS, TIMES = 20.0, 96, np.linspace(0.0, 5.0, 120)


def clean_fields():
    x = np.linspace(-LENGTH / 2, LENGTH / 2, POINTS, endpoint=False)
    across, along = np.meshgrid(x, x, indexing="ij")
    radius, angle = np.hypot(across, along), np.arctan2(along, across)
    start = [np.tanh(radius) * np.cos(angle - radius), np.tanh(radius) * np.sin(angle - radius)]
    periods = {"x": LENGTH, "y": LENGTH}
    simulation = es.Model.from_coefficients(LAW).simulate_field(start, TIMES, periods=periods)
    return simulation.field().values, {"x": x, "y": x, "t": TIMES}, periods


def main():
    values, coords, periods = clean_fields()
    library = es.Polynomials(3, bias=False) + es.Polynomials(3) * es.Derivatives(2)
    form = es.WeakForm(domains=400, seed=0, width=(1.0, 1.0, 0.25))
    print("# Reaction-diffusion, weak form: 109 terms, k = 7, 400 windows, one thread\n")
    print(f"Spiral on a {POINTS} x {POINTS} periodic grid, {len(TIMES)} times.")
    print("Reprinted by `python benchmarks/reaction_diffusion.py`.\n")
    print("| noise | equation | status | seconds | nodes | next best | true terms found |")
    print("|---|---|---|---|---|---|---|")
    for noise in (0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3):
        rng = np.random.default_rng(0)
        noisy = [v + noise * np.sqrt(np.mean(v**2)) * rng.standard_normal(v.shape) for v in values]
        field = es.Field.from_arrays(noisy, dims=("x", "y", "t"), coords=coords, names=("u", "v"), periodic=periods)
        solution = es.solve(form.problem(field, library), 7, settings=es.Settings(threads=1, seconds=60.0))
        for i, (target, terms) in enumerate(solution.terms.items()):
            print(
                f"| {100 * noise:g} % | {target} | {solution.status[i].name.lower()} | {solution.seconds[i]:.3g} "
                f"| {solution.nodes[i]} | {100 * solution.margin[i]:.3g} % worse "
                f"| {len(set(terms) & set(LAW[target]))} of 7 |",
                flush=True,
            )


if __name__ == "__main__":
    main()
