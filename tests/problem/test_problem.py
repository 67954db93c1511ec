"""Problem and Block as records: names, lookup, residuals, sums, fingerprints."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError, dataclass
from fractions import Fraction

import numpy as np
import pytest

from exactsindy.errors import ProblemError
from exactsindy.problem import Block, NamedTerm, Problem
from exactsindy.problem import problem as problem_module


@dataclass(frozen=True)
class Monomial:
    power: int

    @property
    def name(self):
        return f"x^{self.power}"


def arrays(seed=0, n=50, width=3, m=2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, width)), rng.standard_normal((n, m))


def make(seed=0, n=50, width=3, m=2, **names):
    return Problem.from_arrays(*arrays(seed, n, width, m), **names)


@pytest.fixture
def joined():
    """Two equations with libraries that overlap."""
    first = make(1, 40, 2, 1, names=["x", "y"], target_names=["x'"])
    second = make(2, 60, 3, 2, names=["y", "z", "x"], target_names=["y'", "z'"])
    return Problem.from_blocks([first, second])


def test_default_names():
    problem = make()
    assert problem.names == ("theta0", "theta1", "theta2")
    assert problem.target_names == ("y0'", "y1'")
    assert problem.terms[1] == NamedTerm("theta1")
    assert str(problem.terms[1]) == "theta1"


def test_terms_are_kept_as_given():
    problem = make(names=[Monomial(1), "sin(x)", Monomial(3)], target_names=("x'", "y'"))
    assert problem.terms == (Monomial(1), NamedTerm("sin(x)"), Monomial(3))
    assert problem.names == ("x^1", "sin(x)", "x^3")
    assert (problem + problem).terms == problem.terms


def test_names_may_be_an_iterator_and_one_target_a_string():
    problem = make(m=1, names=iter("abc"), target_names="x'")
    assert problem.names == ("a", "b", "c")
    assert problem.target_names == ("x'",)


def test_records_are_frozen():
    problem = make()
    with pytest.raises(FrozenInstanceError):
        problem.blocks = ()
    with pytest.raises(FrozenInstanceError):
        problem.blocks[0].n_samples = 3
    with pytest.raises(ValueError, match="read-only"):
        problem.blocks[0].factor[0, 0] = 1.0


def test_rss_is_that_of_the_data():
    theta, targets = arrays(3)
    problem = Problem.from_arrays(theta, targets)
    coef = np.random.default_rng(4).standard_normal((2, 3))
    expected = ((targets - theta @ coef.T) ** 2).sum(axis=0)
    np.testing.assert_allclose(problem.rss(coef), expected, rtol=1e-13)
    np.testing.assert_allclose(problem.rss(np.zeros((2, 3))), (targets**2).sum(axis=0), rtol=1e-14)


def test_rss_of_several_blocks(joined):
    coef = np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 2.0], [3.0, 0.0, 1.0]])
    theta, targets = arrays(1, 40, 2, 1)
    first = ((targets[:, 0] - theta @ [1.0, 2.0]) ** 2).sum()
    theta, targets = arrays(2, 60, 3, 2)
    rest = ((targets - theta @ coef[1:][:, [1, 2, 0]].T) ** 2).sum(axis=0)
    np.testing.assert_allclose(joined.rss(coef), [first, *rest], rtol=1e-13)


def test_rss_beyond_doubles_is_infinite():
    problem = Problem.from_arrays([[1e200], [2e200]], [1.0, 3.0])
    assert problem.rss([0.0])[0] == 10.0
    assert problem.rss([1e200])[0] == np.inf


def test_target_splits_the_column():
    block = make().blocks[0]
    z, rest = block.target(1)
    assert np.array_equal(z, block.factor[:3, 4])
    assert np.array_equal(rest, block.factor[3:, 4])
    assert np.shares_memory(block.theta_factor, block.factor)
    assert block.theta_factor.shape == (3, 3)
    with pytest.raises(ProblemError, match=r"target 2 asked of a block with 2 targets"):
        block.target(2)


def test_union_of_blocks(joined):
    assert joined.names == ("x", "y", "z")
    assert joined.target_names == ("x'", "y'", "z'")
    assert joined.n_samples == 40
    assert joined.n_samples_of("z") == 60
    assert joined.columns(joined.blocks[0]).tolist() == [0, 1]
    assert joined.columns(joined.blocks[1]).tolist() == [1, 2, 0]
    norms = joined.column_norms
    assert norms.shape == (3, 3)
    assert norms[0, 2] == 0.0
    assert np.array_equal(norms[1], norms[2])
    assert norms[1, 0] == joined.blocks[1].column_norms[2]
    assert not norms.flags.writeable


def test_the_first_of_two_terms_of_one_name_stands_for_both():
    first = make(width=1, m=1, names=[Monomial(2)], target_names=["x'"])
    second = make(width=1, m=1, names=["x^2"], target_names=["y'"])
    assert Problem.from_blocks([first, second]).terms == (Monomial(2),)
    assert Problem.from_blocks([second, first]).terms == (NamedTerm("x^2"),)


def test_columns_of_a_foreign_block(joined):
    with pytest.raises(ProblemError, match=r"Block\(y0', y1'; 3 terms; 50 samples\) is not a block of Problem"):
        joined.columns(make().blocks[0])


def test_locate_by_index_name_and_state(joined):
    first, second = joined.blocks
    for target, expected in [
        (0, (first, 0)),
        (np.int64(2), (second, 1)),
        ("y'", (second, 0)),
        ("z", (second, 1)),
        ("x", (first, 0)),
    ]:
        assert joined.locate(target) == expected


@pytest.mark.parametrize("name", ["u'", "u''", "u_t", "u_tt"])
def test_bare_name_of_every_kind_of_equation(name):
    assert make(m=2, target_names=["v'", name]).locate("u")[1] == 1


def test_full_name_wins_over_bare_name():
    assert make(m=2, target_names=["x'", "x"]).locate("x")[1] == 1


@pytest.mark.parametrize(
    "target, message",
    [
        ("y", r"target 'y' is ambiguous: it may mean y', y''. Give the full name\."),
        ("vleocity", r"no target 'vleocity'\. Did you mean 'velocity'\? Known are y', y'', velocity\."),
        ("Q7", r"there is no target 'Q7'\. Known are y', y'', velocity\."),
        (3, r"target 3 is out of range: the targets are 0 to 2 \(y', y'', velocity\)"),
        (-1, r"target -1 is out of range"),
        (True, r"target is True of type bool: expected an index or a name"),
        (1.0, r"target is 1.0 of type float: expected an index or a name"),
    ],
)
def test_locate_says_what_it_knows(target, message):
    with pytest.raises(ProblemError, match=message):
        make(m=3, target_names=["y'", "y''", "velocity"]).locate(target)


def test_long_lists_of_targets_are_cut():
    with pytest.raises(ProblemError, match=r"y10', y11', \.\.\. \(20 in all\)"):
        make(m=20).locate(99)


def test_sum_matches_blocks_by_targets(joined):
    swapped = Problem(joined.blocks[::-1])
    total = joined + swapped
    assert total.target_names == joined.target_names
    assert total.n_samples_of("z'") == 120
    np.testing.assert_allclose(total.rss(np.zeros((3, 3))), 2 * joined.rss(np.zeros((3, 3))), rtol=1e-14)


def test_sum_of_folds_is_the_whole():
    theta, targets = arrays(5, 100)
    folds = [Problem.from_arrays(theta[i::4], targets[i::4]) for i in range(4)]
    coef = np.ones((2, 3))
    np.testing.assert_allclose(sum(folds).rss(coef), Problem.from_arrays(theta, targets).rss(coef), rtol=1e-13)
    assert sum(folds).n_samples == 100


@pytest.mark.parametrize("weight", [2, 2.0, np.float64(2), np.float32(2), np.int64(2), Fraction(2)])
def test_any_real_number_weights(weight):
    problem = make()
    np.testing.assert_allclose((weight * problem).rss(np.ones((2, 3))), 2 * problem.rss(np.ones((2, 3))))
    assert (weight * problem).fingerprint == (problem * weight).fingerprint == (2 * problem).fingerprint


def test_weight_zero_leaves_nothing():
    problem = make()
    nothing = 0 * problem
    assert nothing.n_samples == 0
    assert not nothing.blocks[0].factor.any()
    assert (problem + nothing).fingerprint == problem.fingerprint
    assert (nothing + problem).fingerprint == problem.fingerprint


def test_sums_with_other_things_are_type_errors():
    with pytest.raises(TypeError):
        make() + 1
    with pytest.raises(TypeError):
        1 + make()


def test_fingerprint_sees_everything_and_nothing_else():
    def named(**changes):
        return make(**{"names": ["a", "b", "c"], "target_names": ["x'", "y'"]} | changes).fingerprint

    base = named()
    assert len(base) == 64
    assert base == named(names=[NamedTerm("a"), "b", "c"])
    others = [
        named(names=["a", "b", "d"]),
        named(names=["ab", "_", "c"]),
        named(target_names=["x'", "z'"]),
        named(seed=1),
    ]
    assert len({base, *others}) == 5
    problem = make()
    block = problem.blocks[0]
    more = Problem((Block(block.factor, 51, block.terms, block.target_names),))
    assert more.fingerprint != problem.fingerprint
    nudged = block.factor.copy()
    nudged[0, 0] = np.nextafter(nudged[0, 0], 9.0)
    assert Problem((Block(nudged, 50, block.terms, block.target_names),)).fingerprint != problem.fingerprint


def test_fingerprint_does_not_confuse_names():
    def of(names):
        return Problem.from_arrays(np.eye(3), np.ones(3), names=names).fingerprint

    assert of(["a|b", "c", "d"]) != of(["a", "b|c", "d"])
    assert of(["a|1:b", "c", "d"]) != of(["a", "b|1:c", "d"])
    assert of(["π", "c", "d"]) != of(["p", "c", "d"])


def test_block_by_hand_is_normalised():
    block = Block(np.array([[-2.0, 1.0], [0.0, -3.0]]), np.int64(5), ["x"], ["x'"])
    assert block.factor.tolist() == [[2.0, -1.0], [0.0, 3.0]]
    assert type(block.n_samples) is int
    assert block.terms == (NamedTerm("x"),)
    source = np.eye(2)
    Block(source, 5, ["x"], ["x'"])
    source[0, 0] = 3.0  # the caller's array stays the caller's


def test_repr_is_one_readable_line(joined):
    assert repr(make()) == "Problem(y0', y1'; 3 terms; 50 samples)"
    assert repr(joined) == "Problem(x', y', z'; 3 terms; 40 / 60 samples; 2 blocks)"
    assert repr(make(width=1, m=8)) == "Problem(y0', y1', y2', y3', y4', y5', ...; 1 term; 50 samples)"


def test_import_does_not_load_scipy():
    code = "import sys, exactsindy.problem; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_examples_run():
    import doctest

    result = doctest.testmod(problem_module, extraglobs={"np": np})
    assert result.attempted > 0
    assert result.failed == 0


def test_target_of_a_block_is_split_at_the_rows_of_the_terms():
    z, rest = Block(np.array([[2.0, 1.0], [0.0, 3.0]]), 10, ("x",), ("x'",)).target(0)
    assert (z.tolist(), rest.tolist()) == ([1.0], [3.0])
