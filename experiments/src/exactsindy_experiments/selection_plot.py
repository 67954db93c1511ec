"""The reliability diagram of the printed confidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exactsindy_experiments.selection_report import reliability
from exactsindy_experiments.selection_rows import SelectionRow


def plot_reliability(rows: Sequence[SelectionRow], path: Path) -> None:
    """Draw the share of right equations against the confidence that was printed for them."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    bins = reliability(row for row in rows if row.part == "reporting")
    figure, axes = plt.subplots(figsize=(5, 5))
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1)
    axes.fill_between([0, 1], [-0.05, 0.95], [0.05, 1.05], color="0.92")
    axes.errorbar(
        [b.confidence for b in bins], [b.right for b in bins], yerr=[b.spread for b in bins], fmt="o", capsize=3
    )
    for b in bins:
        axes.annotate(f"  {b.count}", (b.confidence, b.right), verticalalignment="top")
    axes.set(xlim=(0, 1.02), ylim=(0, 1.05), xlabel="printed confidence", ylabel="share of equations that are right")
    axes.set_title("Random systems, reporting half")
    figure.tight_layout()
    part = path.with_suffix(".part.png")
    figure.savefig(part, dpi=130)
    plt.close(figure)
    part.replace(path)
