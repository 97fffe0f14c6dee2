"""Where the paper's tasks agree on an order, a study agrees, disagrees or cannot tell."""

import pytest

from isoglot.report.agreement import Contender, agreement_lines, agreements, transfer_agreements
from isoglot.report.rows import Row
from isoglot.report.verdicts import Noise, Verdict
from tests.report.made_up_measurements import row


@pytest.mark.parametrize(
    ("default", "separate", "verdict"),
    [
        ((80.0,), (20.0,), Verdict.AGREES),
        ((20.0,), (80.0,), Verdict.DISAGREES),
        ((80.0,), (77.0,), Verdict.TOO_CLOSE),
        ((77.0,), (80.0,), Verdict.TOO_CLOSE),
        ((80.0,), (76.9,), Verdict.AGREES),
        # Three seeds that agree say more than one.
        ((80.0, 80.1, 80.2), (77.9, 78.0, 78.1), Verdict.AGREES),
        ((80.0, 80.1, 80.2), (78.4, 78.5, 78.6), Verdict.TOO_CLOSE),
        ((80.0, 60.0), (50.0, 59.0), Verdict.AGREES),
        ((50.0, 59.0), (80.0, 60.0), Verdict.DISAGREES),
        # One seed is on the other side.
        ((80.0, 60.0), (50.0, 61.0), Verdict.TOO_CLOSE),
        ((50.0, 61.0), (80.0, 60.0), Verdict.TOO_CLOSE),
        ((80.0, 60.0), (50.0, 60.0), Verdict.TOO_CLOSE),
    ],
)
def test_verdicts(default: tuple[float, ...], separate: tuple[float, ...], verdict: Verdict) -> None:
    for rows in (
        [row("default", *default), row("sep-emb-l1-6", *separate)],
        [row("sep-emb-l1-6", *separate), row("default", *default)],
    ):
        (found,) = agreements(rows)
        assert (found.better, found.worse, found.verdict) == ("default", "sep-emb-l1-6", verdict)
        assert found.our_better == pytest.approx(sum(default) / len(default))


def test_what_an_untrained_model_scores_is_no_merit_of_training() -> None:
    ahead = row("default", 80.0, untrained=(70.0,))
    behind = row("sep-emb", 50.0, untrained=(5.0,))
    (found,) = agreements([ahead, behind])
    assert (found.our_better, found.our_worse, found.verdict) == (10.0, 45.0, Verdict.DISAGREES)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [row("default", 83.14), row("sep-emb", 21.0)],
            "Default +83.1 > Sep Emb +21.0: agrees with the paper, on 1 seed only",
        ),
        (
            [row("default", 21.0, 22.0), row("sep-emb", 83.0, 83.2, 84.0)],
            "Default +21.5 < Sep Emb +83.4: disagrees with the paper, on 2 seeds only",
        ),
        (
            [
                row("default", 2.0, 2.0, 2.0, untrained=(5.0, 5.0, 5.0)),
                row("sep-emb", 1.0, 1.0, 1.0, untrained=(4.0, 4.0, 4.0)),
            ],
            "Default -3.0 = Sep Emb -3.0: too close to call",
        ),
    ],
)
def test_sentences(rows: list[Row], sentence: str) -> None:
    assert [each.sentence() for each in agreements(rows)] == [sentence]


def test_only_orders_of_the_paper_within_one_pair_of_languages_are_judged() -> None:
    # The paper's tasks disagree about the first two.
    assert agreements([row("no-anchors", 50.0), row("default-anchors", 80.0)]) == []
    assert agreements([row("default", 80.0), row("sep-emb", 20.0, languages=("ela", "tem"))]) == []
    assert agreements([]) == agreements([row("default", 80.0)]) == []
    three = agreements([row("default", 80.0), row("sep-emb", 50.0), row("sep-emb-l1-6", 20.0)])
    assert [(each.better, each.worse) for each in three] == [
        ("default", "sep-emb"),
        ("default", "sep-emb-l1-6"),
        ("sep-emb", "sep-emb-l1-6"),
    ]


def test_many_are_counted_and_only_those_that_the_paper_has_otherwise_have_a_line() -> None:
    close = [
        row(name, 10.0, 10.0, 10.0) for name in ("default", "sep-l1-6", "sep-emb-l1-6", "sep-emb-l1-3", "no-anchors")
    ]
    found = agreements([*close, row("sep-emb", 1.0, 1.0, 1.0)])
    of = {verdict: [each for each in found if each.verdict is verdict] for verdict in Verdict}
    against = of[Verdict.DISAGREES]
    assert against
    assert list(agreement_lines(found)) == [
        (
            f"of {len(found)} pairs {len(of[Verdict.AGREES])} agree with the paper, {len(against)} disagree, "
            f"{len(of[Verdict.TOO_CLOSE])} are too close to call",
            Verdict.DISAGREES,
        ),
        *((each.sentence(), Verdict.DISAGREES) for each in against),
    ]
    assert list(agreement_lines(found, most=len(found))) == [(each.sentence(), each.verdict) for each in found]
    assert [verdict for _, verdict in agreement_lines(of[Verdict.TOO_CLOSE] * 2)] == [Verdict.TOO_CLOSE]


def contenders(**values: tuple[float, ...]) -> list[Contender]:
    return [Contender(condition=name.replace("_", "-"), values=of_seeds) for name, of_seeds in values.items()]


def test_transfer_is_judged_where_the_same_task_of_the_paper_is_clear() -> None:
    ours = contenders(sep_emb=(70.0, 71.0, 72.0), default=(50.0, 51.0, 52.0))
    (found,) = transfer_agreements(ours, task="nli", languages=("ela", "oru"), noise=Noise())
    # Over its languages the paper has Default 4.5 points above Sep Emb in XNLI, and 1.8 in parsing.
    assert found.sentence() == "Default 51.0 < Sep Emb 71.0: disagrees with the paper"
    assert transfer_agreements(ours, task="parsing", languages=("ela", "oru"), noise=Noise()) == []
    # In French they are 0.9 points apart.
    assert transfer_agreements(ours, task="nli", languages=("en", "fr"), noise=Noise()) == []
    assert transfer_agreements(ours, task="pos", languages=("ela", "oru"), noise=Noise()) == []
    # Means of three are 0.58 times as far apart by chance as single scores.
    (found,) = transfer_agreements(ours, task="nli", languages=("ela", "oru"), noise=Noise(points=35.0))
    assert found.verdict is Verdict.TOO_CLOSE


def test_conditions_that_the_paper_has_not_are_not_judged() -> None:
    ours = contenders(default=(70.0,), anchors_25=(20.0,))
    assert transfer_agreements(ours, task="nli", languages=("ela", "oru"), noise=Noise()) == []
