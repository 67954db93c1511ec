"""bench: one subcommand per benchmark; each writes a page (and tables, plots) into a folder."""

from __future__ import annotations

import typer

from exactsindy.cli import output
from exactsindy_experiments import bench_kinds, bench_laws, bench_proofs, bench_scale, bench_solver

bench = typer.Typer(
    cls=output.Commands,
    help="Benchmarks: how fast and how right this package is, beside others, as far as they are installed.",
    no_args_is_help=True,
)
# In the order in which `bench --help` lists them.
for _command in (
    bench_solver.solver,
    bench_solver.constraints,
    bench_solver.cliffs,
    bench_laws.second_order,
    bench_laws.parameters,
    bench_proofs.proofs,
    bench_laws.selection,
    bench_laws.first_contact,
    bench_solver.miosr,
    bench_scale.pipeline,
    bench_scale.reaction_diffusion,
    bench_solver.torture,
    bench_solver.overhead,
    bench_solver.speed,
    bench_scale.scale,
    bench_solver.setup,
    bench_solver.profile,
    bench_solver.baseline,
    bench_proofs.faults,
    bench_proofs.forgeries,
    bench_kinds.maps,
    bench_kinds.misleading,
    bench_kinds.strogatz,
    bench_kinds.rational,
    bench_kinds.families,
    bench_kinds.default_cost,
    bench_scale.outside,
    bench_scale.install_peers,
):
    bench.command()(_command)
