"""Run the paper's experiments: python benchmarks/reproduce.py {list, EXPERIMENT, report} [options]."""

from __future__ import annotations

import argparse

from exactsindy.experiments import paper


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def numbers(text: str) -> list[float]:
    return [float(word) for word in words(text)]


def trials(text: str) -> int | list[int]:
    low, dash, high = text.partition("-")
    return list(range(int(low), int(high) + 1)) if dash else int(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", help="list, report, all, or an experiment")
    parser.add_argument("--systems", type=words)
    parser.add_argument("--trials", type=trials, default=50, help="how many, or a range such as 11-20")
    parser.add_argument("--algorithms", type=words)
    parser.add_argument("--protocols", type=words)
    parser.add_argument(
        "--values", type=numbers, help="some durations or noise levels; the nearest published are taken"
    )
    parser.add_argument("--noise", type=numbers, help="some noise levels of the constraint experiment")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--store", default="paper_results.sqlite")
    parser.add_argument("--folder", default="docs/benchmarks/paper")
    parser.add_argument("--published", help="report: results folder of wesg52/sindy_mio_paper, to compare by trial")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--retry", action="store_true")
    given = parser.parse_args()
    if given.what == "list":
        for study in paper.experiments_list():
            systems = ", ".join(dict.fromkeys(setup.system for setup in study.setups))
            print(f"{study.name}: {study.title} ({systems}); {', '.join(study.algorithms)}")
        return
    if given.what == "report":
        print(paper.report(given.store, given.folder, given.published))
        return
    names = [study.name for study in paper.experiments_list()] if given.what == "all" else [given.what]
    for name in names:
        paper.run(
            name,
            systems=given.systems,
            trials=given.trials,
            algorithms=given.algorithms,
            protocols=given.protocols,
            values=given.values,
            fixed=given.noise,
            workers=given.workers,
            store=given.store,
            quick=given.quick,
            retry=given.retry,
            progress=lambda state: print(state, flush=True),
        )


if __name__ == "__main__":
    main()
