"""How long `discover` takes, how much memory, whether its time limit holds, and how soon Ctrl-C ends it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

#: CPU seconds that `discover` may take for so many samples of three states.
GOALS = {1_000: 0.6, 10_000: 1.2, 100_000: 3.0, 1_000_000: 15.0}
# Memory beyond this many bytes, which Python and the libraries need, is compared with the data.
_BASE = 100e6
# A limit is kept within this share of it or these seconds.
_SHARE, _SLACK = 0.05, 0.2
#: Cases and limits (seconds) of the table of limits.
LIMITS = {
    "256 states": (0.5, 2.0, 10.0),
    "286 candidates": (0.5, 2.0, 10.0),
    "1000000 samples": (0.5, 2.0, 5.0),
    "field": (0.1, 0.3, 1.0),
}
# Samples of the records for trial models on stretches.
_LONG = 120_000
# Moments at which Ctrl-C is pressed, as shares of the time that the call takes by itself.
_MOMENTS = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)


@dataclass(frozen=True)
class SpeedRow:
    """One call: CPU and wall seconds, peak memory of its process and that of the data in bytes, what it said."""

    cpu: float
    wall: float
    peak: int
    data: int
    answered: bool
    cut: bool

    def kept(self, limit: float) -> bool:
        """Return True if the limit was kept."""
        return self.wall <= max((1 + _SHARE) * limit, limit + _SLACK)


def measure(name: str, seconds: float) -> SpeedRow:
    """Return what one call costs, measured in a process of its own."""
    program = f"from exactsindy_experiments.speed_benchmark import run; run({name!r}, {seconds!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return SpeedRow(**json.loads(done.stdout.splitlines()[-1]))


def run(name: str, seconds: float) -> None:
    """Print one measurement as JSON: the body of the process."""
    import exactsindy as es
    from exactsindy.errors import SolverError
    from exactsindy_experiments.speed_cases import lorenz, noisy, speed_case

    case = speed_case(name)
    es.discover(noisy(lorenz(300)), 0.01, threads=1)  # what is loaded on first use is not measured
    cpu, wall, found = time.process_time(), time.monotonic(), None
    try:
        found = case.call(seconds)
    except SolverError as error:
        if "before there was an answer" not in str(error):
            raise
    cpu, wall = time.process_time() - cpu, time.monotonic() - wall
    cut = found is None or any(notice.kind == "limit" for notice in found.warnings)
    print(json.dumps(asdict(SpeedRow(cpu, wall, peak_memory(), case.nbytes, found is not None, cut))))


def peak_memory() -> int:
    """Return the largest memory of this process so far in bytes; without Linux that of whoever started it may count."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    import resource

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def interrupted(name: str) -> list[float]:
    """Return the seconds from Ctrl-C to the end of a call, at moments spread over it."""
    program = (
        "import sys, time\n"
        "from exactsindy_experiments.speed_cases import speed_case\n"
        f"case = speed_case({name!r})\n"
        "print('ready', flush=True)\n"
        "try:\n    case.call(600.0)\nexcept KeyboardInterrupt:\n    pass\n"
    )

    def once(moment: float | None) -> float:
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            begin = time.monotonic()
            if moment is not None:
                time.sleep(moment)
                begin = time.monotonic()
                process.send_signal(signal.SIGINT)
            process.wait()
            return time.monotonic() - begin

    duration = once(None)
    return [once(share * duration) for share in _MOMENTS]


def shift(name: str, samples: int) -> tuple[float, bool]:
    """Return how far trial models on stretches move coefficients, in standard errors, and whether terms stay."""
    import exactsindy as es
    from exactsindy.discovery import thinning
    from exactsindy_experiments.speed_cases import long_record

    data, kept = long_record(name, samples), thinning.WORTH
    fast = es.discover(data, 0.02, threads=1, seconds=600.0).coefficients
    try:
        thinning.WORTH = samples  # no record is that much longer than its stretches
        slow = es.discover(data, 0.02, threads=1, seconds=600.0).coefficients
    finally:
        thinning.WORTH = kept
    if fast.term_names != slow.term_names or ((fast.values != 0) != (slow.values != 0)).any():
        return np.inf, False
    used = slow.values != 0
    return float((np.abs(fast.values - slow.values)[used] / slow.standard_errors[used]).max()), True


def page(
    samples: Sequence[int], limits: bool, presses: bool, long: Sequence[str], say: Callable[[str], None], where: str
) -> str:
    """Return the page: the tables that were asked for."""
    lines = ["# Speed, memory and limits of discover", "", f"`exactsindy bench speed`. {where}", ""]
    lines += ["One process each, one thread, arrays in memory, loading of the package apart. Lorenz, 1 % noise:", ""]
    lines += ["| samples x 3 | CPU seconds | at most | peak memory beyond 100 MB, in units of the data |"]
    lines += ["|---|---|---|---|"]
    for n in samples:
        row = measure(f"lorenz {n}", 600.0)
        beyond = max(row.peak - _BASE, 0.0) / row.data
        say(f"{n} samples: {row.cpu:.2f} s of CPU, {row.peak / 1e6:.0f} MB")
        memory = f"{beyond:.1f} ({row.peak / 1e6:.0f} MB in all)"
        lines.append(f"| {n:,} | {row.cpu:.2f} | {GOALS.get(n, np.nan):g} | {memory} |")
    lines += ["", "The caller's array, the checked copy of it, its times and two smoothed copies of the states"]
    lines += ["are 4.3 times the data by themselves; the libraries that a call loads and the tests of whether"]
    lines += ["the library holds the law take some 50 MB whatever the data."]
    if limits:
        lines += ["", "## Time limits", "", "Kept: within 5 % or 0.2 s of elapsed time. Where the CPU seconds"]
        lines += ["are far fewer, other programs had the rest.", ""]
        lines += ["| data | limit (s) | took (s) | CPU (s) | kept | answer |", "|---|---|---|---|---|---|"]
        for name, allowed in LIMITS.items():
            for limit in allowed:
                row = measure(name, limit)
                said = "one sentence" if not row.answered else "says what was cut" if row.cut else "complete"
                say(f"{name}, {limit:g} s: {row.wall:.2f} s")
                kept = "yes" if row.kept(limit) else "NO"
                lines.append(f"| {name} | {limit:g} | {row.wall:.2f} | {row.cpu:.2f} | {kept} | {said} |")
    if presses:
        lines += ["", "## Ctrl-C", "", "Seconds from Ctrl-C to the end of the process, at six moments:", ""]
        lines += ["| data | seconds |", "|---|---|"]
        for name in ("lorenz 100000", "12 states"):
            ends = interrupted(name)
            say(f"Ctrl-C, {name}: {max(ends):.2f} s at most")
            lines.append(f"| {name} | {', '.join(f'{end:.2f}' for end in ends)} |")
    if long:
        lines += ["", "## Trial models on stretches", "", "Largest shift of a coefficient in standard errors, if trial"]
        lines += ["models of a long record are found on stretches of it in place of all samples (2 % noise;"]
        lines += ["0 where periods are so long that all samples are used anyway):", ""]
        lines += ["| system | samples | shift | same terms |", "|---|---|---|---|"]
        for name in long:
            moved, same = shift(name, _LONG)
            say(f"{name}: {moved:.3f} standard errors")
            lines.append(f"| {name} | {_LONG:,} | {moved:.3f} | {'yes' if same else 'NO'} |")
    return "\n".join([*lines, ""])
