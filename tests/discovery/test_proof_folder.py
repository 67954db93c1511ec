"""`discover(..., proof=FOLDER)`: the chosen equations, proved in a file that the independent checker accepts."""

import numpy as np
import pytest

import exactsindy as es
from exactsindy.constraints import Bounds, Forbid, NotBoth, SemiContinuous
from exactsindy.discovery.proof_folder import write_proof
from exactsindy.errors import DataError


@pytest.fixture(scope="module")
def samples():
    t = np.arange(0.0, 20.0, 0.05)
    x = np.column_stack([np.cos(t), -np.sin(t)])
    return x + 0.01 * np.random.default_rng(0).normal(size=x.shape), t


def test_the_chosen_equations_are_proved_in_a_folder(samples, tmp_path):
    folder = tmp_path / "new" / "proof"
    found = es.discover(*samples, states=("x", "v"), degree=2, proof=folder)
    assert sorted(item.name for item in folder.iterdir()) == ["problem.npz", "solution.proof"]
    report = es.check_proof(folder / "problem.npz", folder / "solution.proof", jobs=0)
    assert report.ok, str(report)
    names = {section.target: section.terms for section in report.sections}
    assert names == {"x'": ("v",), "v'": ("x",)}
    objectives = [section.proved.objective for section in report.sections]
    assert objectives == pytest.approx(found.solution.objective.tolist(), rel=1e-12)
    assert es.Problem.load(folder / "problem.npz").fingerprint == found.problem.fingerprint
    plain = es.discover(*samples, states=("x", "v"), degree=2)
    assert str(found) == str(plain)


def test_the_run_folder_may_hold_the_proof(samples, tmp_path):
    found = es.discover(*samples, states=("x", "v"), degree=2, proof=tmp_path)
    found.save(tmp_path)
    assert es.check_proof(tmp_path / "problem.npz", tmp_path / "solution.proof", jobs=0).ok
    assert str(es.Discovery.load(tmp_path)) == str(found)


def test_constraints_on_supports_are_part_of_the_proof(samples, tmp_path):
    known = [Forbid("x'", "x"), NotBoth(("v'", "x"), ("v'", "v"))]
    es.discover(*samples, states=("x", "v"), degree=2, constraints=known, proof=tmp_path)
    report = es.check_proof(tmp_path / "problem.npz", tmp_path / "solution.proof", jobs=0)
    assert report.ok, str(report)


def test_constraints_on_coefficients_are_proved(samples, tmp_path):
    bound = Bounds("x'", "v", upper=1.5)
    found = es.discover(*samples, states=("x", "v"), degree=2, constraints=[bound], proof=tmp_path)
    assert not [n for n in found.warnings if n.kind == "proof"]
    report = es.check_proof(tmp_path / "problem.npz", tmp_path / "solution.proof", jobs=0)
    assert report.ok, str(report)
    assert report.conditions


def test_least_sizes_have_no_proof_and_a_notice_says_so(samples, tmp_path):
    bound = SemiContinuous("x'", "v", least=0.1)
    found = es.discover(*samples, states=("x", "v"), degree=2, constraints=[bound], proof=tmp_path)
    (notice,) = [n for n in found.warnings if n.kind == "proof"]
    assert notice.message.startswith("There is no proof file: proof files are not written for Significant")
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_proved_in_time_has_no_proof(tmp_path):
    rng = np.random.default_rng(0)
    problem = es.Problem.from_arrays(rng.standard_normal((90, 60)), rng.standard_normal(90))
    few = es.Settings(nodes=10, threads=1)
    (open_,) = write_proof(es.solve(problem, 5, settings=few), (), tmp_path, es.Settings())
    assert open_.message == "There is no proof file: the equations are not proved."
    (late,) = write_proof(es.solve(problem, 4), (), tmp_path, few)
    assert late.message == ("There is no proof file: the search for y0' did not end. Allow more time or nodes.")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_a_folder_is_refused_before_the_search(samples, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file'\\): this is a file; expected the name of a folder"):
        es.discover(*samples, proof=tmp_path / "file")
    with pytest.raises(DataError, match="got int; expected the name of a folder"):
        es.discover(*samples, proof=3)


def test_a_shared_budget_is_proved(samples, tmp_path):
    found = es.discover(*samples, states=("x", "v"), degree=2, k_max=es.Total(3), proof=tmp_path)
    report = es.check_proof(tmp_path / "problem.npz", tmp_path / "solution.proof", jobs=0)
    assert report.ok, str(report)
    assert report.budgets[0].budget.objective == found.solution.objective[0]
