"""What is said under Table 1: where nothing is transferred or learned, how scores were chosen, what was left out."""

import pytest

from isoglot.pipeline.cells import FROZEN, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.transfer_notes import notes
from isoglot.report.transfer_scores import transfer_scores
from tests.report.made_up_measurements import transferred


def said(found: list[Measurement]) -> list[str]:
    return list(notes(list(transfer_scores(found))))


def nli(condition: str, *, ela: float, oru: float) -> list[Measurement]:
    return transferred(condition, {"ela": ela, "oru": oru}, task="nli", metric="accuracy")


def test_chance_is_no_transfer_and_no_learning() -> None:
    first, second = said([*nli("default", ela=80, oru=60), *nli("sep-emb", ela=80, oru=36.3)])
    assert first == (
        "No transfer, at most 3 points above chance and the same model untrained, or above 0 where neither is known: "
        "NLI: Sep Emb."
    )
    assert second.endswith("Chance in NLI: 33.3.")
    lines = said([*nli("default", ela=80, oru=60), *nli("sep-emb", ela=34, oru=36.4)])
    assert lines[0].endswith("NLI: none.")
    assert lines[1] == ("NLI was not learned in ela itself by Sep Emb, so that its scores show nothing about transfer.")
    assert "by any model" in said(nli("default", ela=34, oru=50))[1]


@pytest.mark.parametrize(("oru", "lost"), [(13.0, "Default"), (13.1, "none")])
def test_untrained_models_set_the_floor_where_there_is_no_chance(oru: float, lost: str) -> None:
    found = [
        *transferred("default", {"ela": 90, "oru": oru}),
        *transferred("default", {"ela": 20, "oru": 10}, variant=UNTRAINED),
        *transferred("default", {"ela": 20, "oru": 2}, variant=FROZEN),
        *transferred("sep-emb", {"ela": 20, "oru": 50}, variant=UNTRAINED),
    ]
    assert said(found)[0].endswith(f"known: NER: {lost}.")
    assert not any(line.startswith("No transfer") for line in said(found[:2]))
    with_nli = [*found[:2], *nli("default", ela=80, oru=60)]
    assert said(with_nli)[0].endswith(
        ": NLI: none; of higher scores not known without baselines of that condition: NER."
    )
    beside = [*found, *transferred("sep-l1-3", {"ela": 90, "oru": 3.1})]
    assert said(beside)[0].endswith(
        f"NER: {lost}; of higher scores not known without baselines of that condition: NER of Sep L1-3."
    )


def test_near_0_nothing_is_transferred_whatever_the_floor() -> None:
    found = [*transferred("default", {"ela": 90, "oru": 60}), *transferred("sep-emb", {"ela": 90, "oru": 3.0})]
    assert said(found)[0].endswith(
        ": NER: Sep Emb; of higher scores not known without baselines of that condition: NER."
    )
    assert said(found[2:])[0].endswith(": NER: Sep Emb.")


def test_of_several_targets_the_lost_are_named() -> None:
    found = [
        *nli("default", ela=80, oru=60),
        *transferred("default", {"ela": 80, "tem": 34}, task="nli", metric="accuracy", languages=("ela", "tem")),
    ]
    assert said(found)[0].endswith("NLI: Default (tem).")
    everywhere = [*nli("default", ela=80, oru=34), *found[2:]]
    assert said(everywhere)[0].endswith("NLI: Default.")
    assert "own test set, mean over the models of all pairs: was" in said(found)[1]


def test_settings_are_counted() -> None:
    found = [
        *transferred("default", {"oru": 60}),
        *transferred("default", {"oru": 6}, metric="settings_tried"),
        *transferred("default", {"oru": 18}, metric="settings_tried", task="nli"),
    ]
    shown = "shown is the mean of the best two on ela's dev set (section 3.2)"
    assert f"Settings of fine-tuning tried: 6 for NER, 18 for NLI; {shown}." in said(found)
    alone = transferred("default", {"oru": 1}, metric="settings_tried")
    assert any("1 for NER; shown is the one score." in line for line in said(alone))
    both = transferred("default", {"oru": 2}, metric="settings_tried")
    assert any("2 for NER; shown is the mean of both." in line for line in said(both))


def test_settings_that_diverged_and_spans_that_moved_are_told() -> None:
    found = [
        *transferred("default", {"oru": 60}),
        *transferred("default", {"oru": 2}, metric="settings_diverged"),
        *transferred("default", {"oru": 12}, metric="changed_spans"),
        *transferred("default", {"oru": 3}, metric="lost_spans"),
    ]
    assert any(line.startswith("NER: up to 2 of the settings of a model diverged; ") for line in said(found))
    assert any(line.startswith("NER: 15 gold spans of oru have other ends or are lost") for line in said(found))


def test_what_is_cut_or_cannot_be_predicted_is_told_with_its_shares() -> None:
    found = [
        *transferred("default", {"ela": 90, "oru": 60}),
        *transferred("default", {"ela": 0.0, "oru": 12.25}, metric="in_parts"),
        *transferred("sep-emb", {"ela": 0.01, "oru": 15.0}, metric="in_parts"),
        *transferred("default", {"ela": 0.0, "oru": 2.5}, metric="unseen_labels"),
        *transferred("default", {"ela": 1.0, "oru": 0.0}, metric="in_parts", task="nli"),
    ]
    assert said(found)[-3:] == [
        "NER: less than 0.1% of ela and 12.2% to 15.0% of oru test examples are longer than a window of pretraining, "
        "and were labelled in parts that overlap.",
        "NER: 2.5% of oru gold labels never occur in ela's training set, so that no model can predict them.",
        "NLI: 1.0% of ela test examples were cut to fit a window of pretraining.",
    ]
    nothing = transferred("default", {"ela": 0.0, "oru": 0.0}, metric="in_parts")
    assert not any("window" in line for line in said(nothing))


def test_marks_and_ranges_are_explained_where_there_are_any() -> None:
    one = transferred("default", {"oru": 60})
    more = transferred("default", {"oru": 70}, seed=1)
    other = transferred("sep-emb", {"tem": 60}, languages=("ela", "tem"))
    partial = [*other, *transferred("sep-emb", {"oru": 60})]
    assert not any("seeds" in line or "*" in line for line in said(one))
    assert any("Means over seeds, and their spread" in line for line in said([*one, *more]))
    assert any("(* over those that both have)" in line for line in said([*one, *partial]))
