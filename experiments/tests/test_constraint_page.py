"""The page of the constraint benchmark names both ratios: over the native search, and over the call from Python."""

from exactsindy_experiments.constraint_benchmark import ConstraintRow, page


def test_the_whole_call_from_python_is_compared_too():
    row = ConstraintRow(
        name="Duffing 10 s, 1%, k=2",
        columns=20,
        equalities=6,
        inequalities=0,
        translate=8e-5,
        native=2e-5,
        call=4e-4,
        nodes=22,
        objective=1.0,
        proved=True,
        peer=6e-3,
        peer_build=0.0,
        peer_nodes=39,
        peer_proved=True,
        same=True,
    )
    text = page([row], [], "two cores")
    assert "All: Gurobi needs 300 times our native call (geometric mean of 1; least 300), 15 times" in text
    assert "15 times our whole call from Python (least 15); the same support in 1 of 1" in text
