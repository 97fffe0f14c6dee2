"""A line without a spread is not taken for one whose seeds agree."""

from isoglot.report.figures.seed_notes import seed_notes

MEANS = "Means over seeds; thin lines go from the lowest seed to the highest."


def test_models_of_one_seed_are_named_among_others() -> None:
    assert list(seed_notes({"Default": True, "Wiki-CC": False, "Sep Emb": False})) == [
        f"{MEANS} Of one seed: Wiki-CC, Sep Emb."
    ]
    assert list(seed_notes({"Default": True, "Sep Emb": True})) == [MEANS]


def test_nothing_is_said_where_no_model_has_several() -> None:
    assert list(seed_notes({"Default": False, "Sep Emb": False})) == []
