"""Pages say what controls found of claims that disagree, and no more than that."""

from statistics import fmean

import pytest
from published_records import RESULTS, best_after_a_map, by_place, of_control, report_data, with_control

from isoglot.report.findings.comparisons import Outcome
from isoglot.report.findings.verdicts import Verdict, order_verdict
from isoglot.report.report_scores import ReportScores


def test_a_page_says_what_biases_of_their_own_do_to_no_anchors() -> None:
    found = with_control("control-softmax")
    page = (RESULTS / "replication/tested.md").read_text()
    plain, own = "no-anchors", "no-anchors-own-bias"
    for metric in ("accuracy", "f1", "las", "retrieval_p1"):
        scores = by_place(found, metric)
        assert min(scores[own, "de", seed] for seed in (0, 1)) > max(scores[plain, "de", seed] for seed in (0, 1))
    retrieval, f1 = by_place(found, "retrieval_p1"), by_place(found, "f1")
    assert (
        "at least 21% of sentences, and they find {:.0f} and {:.0f}%".format(
            *(retrieval[own, "de", each] for each in (0, 1))
        )
        in page
    )
    apart = [abs(f1[name, "de", 0] - f1[name, "de", 1]) for name in (own, plain)]
    assert "{:.0f} points apart in NER, where the two without are {:.0f} apart".format(*apart) in page
    mapped = [best_after_a_map(found, own, seed) for seed in (0, 1)]
    assert "the two with own biases find {:.1f} and {:.1f}%".format(*mapped) in page
    comparisons = ReportScores(found).comparisons
    by_seed = {
        name: [fmean(each.leads[name].by_seed[seed] for each in comparisons.trials) for seed in (0, 1)]
        for name in (plain, own, "sep-emb")
    }
    for name, label in ((plain, "No anchors"), (own, "No anchors with own biases"), ("sep-emb", "Sep Emb")):
        assert f"| {label} | {' | '.join(f'{each:.1f}' for each in by_seed[name])} |" in page
    closed = [(b - a) / (c - a) for a, b, c in zip(by_seed[plain], by_seed[own], by_seed["sep-emb"], strict=True)]
    assert closed == pytest.approx([1 / 2, 4 / 5], abs=0.05)
    ahead = {each.task: each.leads["sep-emb"].plain.mean - each.leads[own].plain.mean for each in comparisons.trials}
    assert min(ahead.values()) > 0
    assert f"in NLI nearly so ({ahead['nli']:.1f} points)" in page
    of_all = ReportScores(report_data("replication").measurements).comparisons.noise
    decided = {
        (noise_of, other): [
            each.task
            for each in measured.trials
            if order_verdict(each.leads[own].plain, each.leads[other].plain) is not Verdict.TOO_CLOSE
        ]
        for noise_of, measured in (("German", comparisons), ("all", comparisons.with_noise(of_all)))
        for other in (plain, "sep-emb")
    }
    assert decided == {
        ("German", plain): ["nli", "parsing"],
        ("German", "sep-emb"): [],
        ("all", plain): [],
        ("all", "sep-emb"): [],
    }
    for name in ("verdicts.md", "README.md"):
        more = (RESULTS / "replication" / name).read_text()
        assert "{:.1f} and {:.1f} points".format(*by_seed[own]) in more
        assert "had {:.1f} and {:.1f}".format(*by_seed[plain]) in more


def test_a_page_tells_the_domain_of_a_text_from_its_size() -> None:
    page = (RESULTS / "replication/tested.md").read_text()
    _, cut = of_control("control-text")
    whole = [each for each in report_data("replication").measurements if each.languages[1] == "de" and each.seed == 0]
    points = {}
    for text, found in (("all text, seed 0", whole), ("2.6M words", cut)):
        trials = ReportScores(found).comparisons.trials
        for condition, label in (("default", "Default"), ("wiki-cc", "Wiki-CC")):
            points[label, text] = fmean(each.leads[condition].mean for each in trials)
            scores = [
                by_place(found, metric)[condition, "de", 0] for metric in ("accuracy", "f1", "las", "retrieval_p1")
            ]
            scores += [by_place(found, "word_translation_p1")[condition, "de", 0], points[label, text]]
            assert f"| {label}, {text} | {' | '.join(f'{each:.1f}' for each in scores)} |" in page
    keeps = [f"{points['Wiki-CC', text] / points['Default', text]:.0%}" for text in ("2.6M words", "all text, seed 0")]
    assert (
        "Wiki-CC keeps {} of Default's points. Where its own text alone is small, it keeps {}.".format(*keeps) in page
    )
    left = points["Default", "2.6M words"] / points["Default", "all text, seed 0"]
    assert f"Default itself keeps {left:.0%} of its points" in page
    found = [
        by_place(cut, metric)["default", "de", 0] / by_place(whole, metric)["default", "de", 0]
        for metric in ("retrieval_p1", "word_translation_p1")
    ]
    assert "Of its sentences it keeps {:.0%}, and of its words {:.0%}.".format(*found) in page
    assert f"[keeps {keeps[0]}]" in (RESULTS / "replication/verdicts.md").read_text()
    assert ReportScores(cut).comparisons.outcomes["wiki-cc"] is Outcome.OPEN
    order = ("wiki-cc", "default")
    mapped = [f"{best_after_a_map(cut, condition, 0):.1f}" for condition in order]
    plain = [f"{by_place(cut, 'retrieval_p1')[condition, 'de', 0]:.1f}" for condition in order]
    assert "Wiki-CC finds {}% of them and Default {}%".format(*mapped) in page
    assert "Without one it is {} and {}%".format(*plain) in page
