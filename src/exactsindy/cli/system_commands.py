"""systems: list the known systems, generate data from one."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated, Any

import typer

from exactsindy.cli import options, output

#: Of a simulation, in the units of the system: integrating a million takes minutes.
_LONGEST_TIME = 1e6
_SHORTEST_STEP = 1e-12
app = typer.Typer(cls=output.Commands, help="Known systems with their true equations.", no_args_is_help=False)


@app.callback(invoke_without_command=True)
def listing(context: typer.Context, json: options.Json = False) -> None:
    r"""List the known systems, or generate data from one (`exactsindy systems generate`).

    \b
    Examples:
      exactsindy systems
      exactsindy systems generate lorenz --noise 0.01 --out lorenz.csv
    """
    if context.invoked_subcommand is not None:
        return
    from exactsindy.systems import FIELD_SYSTEMS, SYSTEMS

    truths: dict[str, Any] = {name: system.truth for name, system in SYSTEMS.items()}
    truths.update({name: system.truth for name, system in FIELD_SYSTEMS.items()})
    plain = {name: {target: dict(terms) for target, terms in truth.items()} for name, truth in truths.items()}
    output.show(plain, json, lambda: "\n".join(_lines(truths)))


def _lines(truths: dict[str, Any]) -> Any:
    from exactsindy.solver import equation

    for name, truth in truths.items():
        yield name
        yield from (f"  {equation(target, terms.items())}" for target, terms in truth.items())


@app.command()
def generate(
    name: Annotated[str, typer.Argument(help="A system of the list.", show_default=False)],
    out: Annotated[Path, typer.Option(help="CSV file; for fields an npz file.")],
    samples: Annotated[int, typer.Option(min=3, max=output.MOST_ROWS, help="Samples of a trajectory.")] = 2000,
    step: Annotated[float, typer.Option(help="Time between samples of a trajectory.")] = 0.01,
    noise: Annotated[float, typer.Option(min=0.0, help="Noise as a share of the size: 0.01 is 1 %.")] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Of initial condition and noise.")] = 0,
) -> None:
    r"""Simulate a known system from a random start, add noise, write a file.

    \b
    Examples:
      exactsindy systems generate lorenz --samples 2500 --step 0.002 --noise 0.01 --out lorenz.csv
      exactsindy systems generate burgers --noise 0.1 --out burgers.npz
    """
    from exactsindy.errors import nearest
    from exactsindy.systems import FIELD_SYSTEMS, SYSTEMS

    key = name.strip().lower().replace(" ", "_").replace("-", "_")
    if key in FIELD_SYSTEMS:
        return _field(FIELD_SYSTEMS[key], out, noise, seed)
    if key not in SYSTEMS:
        output.fail(f"there is no system {name!r}. {nearest(key, (*SYSTEMS, *FIELD_SYSTEMS))}")
    _trajectory(SYSTEMS[key], out, samples, step, noise, seed)


def _trajectory(system: Any, out: Path, samples: int, step: float, noise: float, seed: int) -> None:
    import numpy as np

    from exactsindy._atomic import write_atomically
    from exactsindy.systems import add_noise

    if not step >= _SHORTEST_STEP:
        output.fail(f"--step {step:g}: expected a positive number, at least {_SHORTEST_STEP:g}.")
    if not samples * step <= _LONGEST_TIME:
        output.fail(f"--samples {samples}, --step {step:g}: expected a time of at most {_LONGEST_TIME:g} in all.")
    if out.suffix.lower() != ".csv":
        output.fail(f"--out {out.name!r}: expected a name that ends in .csv.")
    rng = np.random.default_rng(seed)
    times = np.arange(samples) * step
    states = add_noise(system.simulate(system.initial_condition(rng), times), noise, rng)
    text = io.StringIO()
    text.write(",".join(["t", *system.states]) + "\n")
    np.savetxt(text, np.column_stack([times, states]), delimiter=",", fmt="%.8g")
    write_atomically(out, text.getvalue())
    output.note(f"{samples} samples of {', '.join(system.states)} in {out}")


def _field(system: Any, out: Path, noise: float, seed: int) -> None:
    import numpy as np

    from exactsindy._atomic import write_atomically
    from exactsindy.systems import add_field_noise

    if out.suffix.lower() != ".npz":
        output.fail(f"--out {out.name!r}: {system.name} is a field; expected a name that ends in .npz.")
    rng = np.random.default_rng(seed)
    data = add_field_noise(system.simulate(rng), noise, rng)
    arrays: dict[str, Any] = dict(zip(data.dims, data.coords, strict=True))
    arrays.update(zip(data.names, data.values, strict=True))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    write_atomically(out, buffer.getvalue())
    output.note(f"{out}: read it with --dims {','.join(data.dims)} --periodic {','.join(data.axes)}")
