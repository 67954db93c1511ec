"""Trials set beside the published ones, and why they differ."""

import pytest

from exactsindy.errors import DataError
from exactsindy_experiments.paper import pairing, pairs, trial_files
from exactsindy_experiments.paper.evaluate import evaluate
from exactsindy_experiments.paper.records import Case, Result
from exactsindy_experiments.paper.studies import find_study

HEAD = "Method,Duration,Sample Rate,Noise,Seed,coef_l2,support_tp,support_fp,support_fn,runtime,alpha,group_sparsity\n"
PLACE = find_study("differential-small").setup("hopf").values[7]
CASE = Case("differential-small", "hopf", "published", "exact", 3, PLACE, 0.002, 1)


@pytest.fixture(scope="module")
def ours():
    return evaluate(CASE)


def write(folder, *rows):
    place = folder / "final_draft_dif_small_lib_hopf"
    place.mkdir(parents=True)
    (place / "trial_1.csv").write_text(HEAD + "".join(f"{row}\n" for row in rows))
    return folder


def row(outcome, method="MIOSR", tp=8, fp=0, fn=0, coef=None, alpha="0.0, 0.0", sizes="4, 4"):
    error = outcome.coef_l2 if coef is None else coef
    return f'{method},{PLACE!r},0.002,0.002,1,{error!r},{tp},{fp},{fn},1.0,"({alpha})","({sizes})"'


def test_trial_files_are_read_by_case(ours, tmp_path):
    other = row(ours, method="SSR", fp=3, alpha="", sizes="").replace('"()"', "")
    found = trial_files.read_trials(write(tmp_path, row(ours), other))
    assert set(found) == {CASE, Case(*CASE.key[:3], "ssr", *CASE.key[4:])}
    assert found[CASE].tpr == 1.0
    assert found[CASE].sizes == (4, 4)
    assert found[CASE].ridges == (0.0, 0.0)


def test_the_same_answer_is_called_so(ours, tmp_path):
    text, lists = pairing.paired([Result(CASE, ours)], write(tmp_path, row(ours)))
    assert "| differential-small | hopf | exact | 1 | 1 | 0 | 0 | 1.0000 | 1.0000 | +0.0000" in text
    assert "No cell's mean TPR is below theirs." in lists


def test_baselines_have_a_table_of_their_own(ours, tmp_path):
    peer = Case(*CASE.key[:3], "stlsq", *CASE.key[4:])
    folder = write(tmp_path, row(ours), row(ours, method="STLSQ", tp=7, fn=1))
    _, lists = pairing.paired([Result(CASE, ours), Result(peer, ours)], folder)
    assert "| differential-small | hopf | stlsq | 1 | 0 | 1.0000 | 0.8750 | +0.1250 (nan) |" in lists
    assert "No cell's mean TPR is below theirs." in lists
    assert "baselines" not in pairing.paired([Result(CASE, ours)], folder)[1]


def trial(outcome, **changes):
    known = {"tp": 8, "fp": 0, "fn": 0, "coef_l2": outcome.coef_l2, "sizes": (4, 4), "ridges": (0.0, 0.0)}
    return trial_files.PublishedTrial(**{**known, **changes})


def test_why_theirs_is_nearer_is_found_by_solving_their_grid_point(ours):
    """The recorded grid point is solved again: what it gives tells whether theirs was its optimum."""
    optimum = pairs.Pair(CASE, ours, trial(ours))
    assert pairs.reason(optimum).startswith("Their support is the optimum of its grid point")
    lucky = pairs.Pair(CASE, ours, trial(ours, coef_l2=1.5 * ours.coef_l2))
    assert pairs.reason(lucky).startswith("Their support is not the optimum")


def test_a_worse_trial_is_listed(ours, tmp_path):
    from dataclasses import replace

    worse = replace(ours, tp=7, fn=1, tpr=7 / 8, exact=False)
    text, lists = pairing.paired([Result(CASE, worse)], write(tmp_path, row(ours)))
    assert "| 1 | 0 | 0 | 1 |" in text
    assert "elsewhere: 1\n" in text
    assert "All 1 trials in which theirs is nearer to the truth" in lists
    assert f"{PLACE:.3g} s, trial 1: TPR 0.88 against 1.00" in lists


def test_a_folder_without_trials_is_refused(tmp_path):
    with pytest.raises(DataError, match="holds none of the folders final_draft_dif_lorenz"):
        trial_files.read_trials(tmp_path)


def test_a_place_that_is_not_of_the_grid_is_refused(ours, tmp_path):
    with pytest.raises(DataError, match=r"has a row at 7\.6"):
        trial_files.read_trials(write(tmp_path, row(ours).replace(repr(PLACE), "7.6")))


def test_where_the_budget_is_shared_grid_points_are_compared(ours):
    from dataclasses import replace

    case = Case("constraint", "duffing", "published", "exact", 3, 10.0, 0.1, 1)
    mine = replace(ours, choice='{"k": 6, "alpha": 0.001}')
    there = pairs.Pair(case, mine, trial(ours, sizes=(6,), ridges=(0.001,)))
    assert pairs.reason(there).startswith("Their support is not the optimum")
    other = pairs.Pair(case, mine, trial(ours, sizes=(7,), ridges=(0.001,)))
    assert pairs.reason(other).startswith("The criterion picks another grid point")
