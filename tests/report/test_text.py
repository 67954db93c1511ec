"""HTML for notebooks: well-formed, escaped, and says the same as the text."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

import exactsindy as es
from exactsindy.app.answer import view
from exactsindy.app.what_if import Changes
from exactsindy.data import Notice, Target
from exactsindy.library import LATEX, Term, Variable, Variables, mathml, mathml_term, parse_term
from exactsindy.model import Equation, to_mathml
from exactsindy.report import messages, typesetter
from exactsindy.report.text import facts
from exactsindy.selection import Choice

KNOWN = Variables(("x", "y", "u", "alpha", "x0"), axes=("lon", "z"))


def parsed(text):
    return ElementTree.fromstring(text.replace("&#x2062;", "").replace("&#x2061;", "").replace("&alpha;", "α"))


def flat(element):
    return "".join(element.itertext())


@pytest.mark.parametrize(
    "name, shown",
    [
        ("x^2 y", "x2y"),
        ("u_zz", "uzz"),
        ("u u_lon", "uulon"),
        ("u_lon_lon", "ulon,lon"),
        ("sin(2 x)", "sin(2x)"),
        ("x/y", "xy"),
        ("alpha", "α"),
        ("x0", "x0"),
        ("sqrt(x)", "x"),
        ("1", "1"),
    ],
)
def test_terms_are_well_formed(name, shown):
    assert flat(parsed(f"<m>{mathml.term(parse_term(name, KNOWN))}</m>")) == shown


def test_numbers_and_signs():
    x = parse_term("x", KNOWN)
    element = parsed(
        mathml.mathml_equation("x'", [(-1.0, x), (2.5e-7, parse_term("y", KNOWN)), (3.0, parse_term("1", KNOWN))])
    )
    assert flat(element) == "x′=−x+2.5×10−7y+3"
    assert flat(parsed(mathml.mathml_equation("u_tt", []))) == "utt=0"


def test_numbers_with_errors_are_the_same_in_text_and_in_mathml():
    terms = tuple(parse_term(name, KNOWN) for name in ("x", "y", "x y", "1"))
    row = Equation(Target("x"), terms, (-1.2345, 1.5, 2e-12, 3.0), (0.012, float("nan"), 3.1e-13, 0.1))
    assert row.text_with_errors() == "x' = (-1.234 ± 0.012) x + (1.5 fixed) y + (2e-12 ± 3.1e-13) x y + (3.00 ± 0.10)"
    assert (
        flat(parsed(to_mathml([row], errors=True)))
        == "x′=−(1.234±0.012)x+(1.5 fixed)y+(2×10−12±3.1×10−13)xy+(3.00±0.10)"
    )


def test_names_without_structure_are_escaped():
    assert "&lt;b&gt;" in mathml.mathml_equation("y", [(1.0, "<b>")])


def test_results_have_html(oscillator):
    solution, path, pool = oscillator.solution, oscillator.selection.path, oscillator.pool
    for value in (solution, path, pool, oscillator.model, oscillator):
        parsed(value._repr_html_().replace("<br>", ""))
    assert "proved optimal" in solution._repr_html_()
    assert path._repr_html_().count("<tr>") == 1 + 2 * len(path)
    assert "Not proved: that the system is this." in oscillator._repr_html_()


def test_shared_budget_has_html():
    theta = np.random.default_rng(0).normal(size=(40, 4))
    problem = es.Problem.from_arrays(theta, theta[:, :2], names=["a", "b<", "c", "d"])
    html = es.solve(problem, es.Total(2))._repr_html_()
    parsed(html)
    assert "all together" in html
    parsed(es.solve_path(problem, es.Total(2))._repr_html_())


def test_reprs_fit_on_a_line(oscillator):
    found = oscillator
    verification = es.verify(found.problem, found.solution)
    for value in (found, found.selection, found.solution, found.selection.path, found.pool, found.model, verification):
        assert len(repr(value)) < 160
        assert "\n" not in repr(value)
    assert repr(verification).startswith("<Verification holds; optimality ")
    assert repr(found.selection).startswith("<Selection x': 1 terms, confidence")


def test_all_chosen_terms_are_listed_with_their_share_of_resamples(oscillator):
    shares = {name: 0.06 for name in oscillator.problem.names} | {"v": 0.01}
    selection = replace(oscillator.selection, inclusion={"x'": shares})
    (line,) = [line for line in facts(replace(oscillator, selection=selection), 0) if "6 %" in line]
    assert ": v 1 %, " in line


def test_the_constant_term_is_called_so_beside_a_percentage(oscillator):
    class WithConstant:
        @property
        def shares(self):
            return {"x'": {"1": 2.04, "v": 2.27}}

        def __getattr__(self, name):
            return getattr(found, name)

    selection = replace(oscillator.selection, inclusion={"x'": {"v": 1.0, "1": 0.08}})
    found = replace(oscillator, selection=selection)
    lines = list(facts(WithConstant(), 0))
    assert "Share of the right-hand side: constant 204 %, v 227 %." in lines
    assert any(line.endswith(": v 100 %, constant 8 %.") for line in lines)


def test_what_is_said_of_many_equations_is_said_once(oscillator):
    said = [Notice("empty", f"{name}: looks like noise.", name) for name in ("x'", "v'")]
    several = (said[0], Notice("short", "The record is short."), said[1], Notice("size", "x': 7 terms.", "x'"))
    assert messages(several) == ("x', v': looks like noise.", "The record is short.", "x': 7 terms.")
    shown = replace(oscillator, warnings=several)
    assert str(shown).count("looks like noise") == 1
    assert shown._repr_html_().count("looks like noise") == 1
    assert view(shown, shown, Changes()).warnings == messages(several)


def test_shares_of_no_term_are_not_listed(oscillator):
    selection = replace(oscillator.selection, inclusion={"x'": {name: 0.0 for name in oscillator.problem.names}})
    empty = replace(oscillator.model.rows[0], terms=(), coefficients=(), standard_errors=None)
    model = replace(oscillator.model, rows=(empty, *oscillator.model.rows[1:]))
    assert not [line for line in facts(replace(oscillator, selection=selection, model=model), 0) if "resamples" in line]


def test_a_rival_is_called_by_its_terms():
    choice = Choice("x'", 2, "rows", 0.0, score=0.0, confidence=0.1, rival=1, rival_terms=("1",))
    assert choice.words() == "not identified (confidence 10 %; as plausible: a law with the term constant)"
    assert replace(choice, rival=2, rival_terms=("x", "y")).rival_words() == "a law with the terms x, y"
    assert replace(choice, rival=2, rival_terms=()).rival_words() == "a law with 2 terms"
    assert replace(choice, rival=0, rival_terms=()).rival_words() == "a law with no terms"


def test_a_rival_of_the_same_size_is_not_the_answer_itself(oscillator):
    first, *others = oscillator.selection.choices
    unsure = replace(first, confidence=0.3, rival=first.k, rival_terms=())
    shown = replace(oscillator, selection=replace(oscillator.selection, choices=(unsure, *others)))
    (line,) = [line for line in facts(shown, 0) if line.startswith("Rival")]
    assert line == f"Rival with 1 term: {next(iter(oscillator.pool['x'][1].terms))}."
    assert "v" not in line.split()
    assert not [line for line in facts(replace(shown, pool=None), 0) if line.startswith("Rival")]


@pytest.mark.parametrize(
    ("name", "latex", "markup"),
    [
        ("p [kPa]", r"\mathrm{p\ [kPa]}", "<mi>p\u00a0[kPa]</mi>"),
        ("x [k]", r"\mathrm{x\ [k]}", "<mi>x\u00a0[k]</mi>"),
        ("T (°C)", r"\mathrm{T\ ({}^\circC)}", "<mi>T\u00a0(°C)</mi>"),
        ("10", r"\mathrm{10}", "<mi>10</mi>"),
        ("x[k-1]", r"x_{k-1}", "<msub><mi>x</mi><mrow><mi>k-1</mi></mrow></msub>"),
        ("Alpha", r"\mathrm{Alpha}", "<mi>Alpha</mi>"),
        ("Omega", r"\Omega", "<mi>Omega</mi>"),
    ],
)
def test_units_and_brackets_in_names_survive(name, latex, markup):
    variable = Variable(name)
    assert variable.text(LATEX) == latex
    assert markup in mathml_term(Term.variable(name))
    pytest.importorskip("sympy")
    assert str(variable.to_sympy()) == ("x(k - 1)" if name == "x[k-1]" else name)


def test_rivals_of_a_loaded_run_are_typeset(oscillator, tmp_path):
    oscillator.save(tmp_path / "run")
    loaded = es.Discovery.load(tmp_path / "run")
    assert typesetter(loaded)("x^2 v") == typesetter(oscillator)("x^2 v")
    assert "<msup>" in typesetter(loaded)("x^2 v")
    assert typesetter(loaded)("no such name") == "<math><mtext>no such name</mtext></math>"
