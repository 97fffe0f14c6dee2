"""Two reports side by side: which settings and which numbers differ, and which of them by more than noise."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from isoglot.pipeline.cells import FROZEN
from isoglot.pipeline.measurements import Measurement
from isoglot.report.difference import Changed, Kind, difference, difference_sentences
from isoglot.report.report_files import ReportContent
from isoglot.store.canonical import Json
from tests.report.made_up_measurements import measured, measurement, transferred

VM: dict[str, Json] = {"host": "vm", "hardware": None, "commit": "a" * 40, "versions": {"torch": "2.0"}}
TOO_LONG: dict[str, Json] = {f"nli.en.{number}": ["/a/long/name/of/a/file.tsv.gz"] for number in range(9)}


def report(*found: Sequence[Measurement], **provenance: Json) -> ReportContent:
    return ReportContent(measurements=[each for part in found for each in part], provenance=provenance)


def sentences(changed: Sequence[Changed]) -> list[str]:
    return [each.sentence() for each in changed]


def test_what_is_alike_is_left_out() -> None:
    one = report(transferred("default", {"oru": 50.0}), measured("default", [1.0, 2.0]), study="mine")
    assert difference(one, one) == []
    # Another digest of the same number is no other number, and neither is another order.
    again = [replace(each, stage="1" * 64, study="yours") for each in reversed(one.measurements)]
    assert difference(one, report(again, study="mine")) == []
    assert list(difference_sentences([])) == ["No setting differs.", "No number differs."]


def test_numbers_are_compared_over_seeds_and_noise_is_told_from_difference() -> None:
    a = report(transferred("default", {"oru": 50.0, "ela": 90.0}), transferred("default", {"oru": 52.0}, seed=1))
    b = report(transferred("default", {"oru": 55.0, "ela": 91.0}), transferred("default", {"oru": 57.0}, seed=1))
    of_oru, of_ela = difference(a, b)
    assert of_oru.sentence() == "Default, ela-oru, NER f1 of oru: 51.0 (50-52) -> 56.0 (55-57) (+5.0)"
    assert (of_oru.kind, of_oru.exhibit, of_oru.change, of_oru.is_clear) == (Kind.NUMBER, "table-1", 5.0, True)
    assert (of_ela.change, of_ela.is_clear) == (1.0, False)


def test_a_number_that_one_report_lacks_is_told() -> None:
    a, b = report(transferred("default", {"oru": 50.0})), report(transferred("sep-emb", {"oru": 40.0}))
    gone, new = difference(a, b)
    assert (gone.a, gone.b, gone.change, gone.is_clear) == ("50.0", None, None, True)
    assert new.sentence() == "Sep Emb, ela-oru, NER f1 of oru: nothing -> 40.0"


@pytest.mark.parametrize(
    ("metric", "a", "b", "is_clear"),
    [
        ("cka", 0.50, 0.51, False),
        ("cka", 0.50, 0.55, True),
        ("retrieval_p1", 50.0, 52.0, False),
        ("aligned_retrieval_p1", 50.0, 54.0, True),
        ("training_words", 1000, 1001, True),
        ("dev_perplexity", 9.1, 7.1, False),
        *((metric, 1, 9, False) for metric in ("chosen_epoch", "map_dimensions", "settings_tried")),
        *((metric, 1, 9, False) for metric in ("best_setting", "second_best_setting")),
    ],
)
def test_every_metric_has_a_noise_of_its_own(metric: str, a: float, b: float, is_clear: bool) -> None:
    ((changed),) = difference(*(report([measurement("default", value, metric=metric)]) for value in (a, b)))
    assert changed.is_clear is is_clear


def test_variants_layers_and_updates_are_numbers_of_their_own() -> None:
    def found(*values: float) -> ReportContent:
        of_layer, of_variant, of_update = values
        moment = [replace(each, update=10) for each in measured("default", [of_update])]
        return report(measured("default", [1.0, of_layer]), measured("default", [of_variant], variant=FROZEN), moment)

    assert sentences(difference(found(2.0, 50.0, 5.0), found(9.0, 60.0, 15.0))) == [
        "Default, ela-oru, retrieval_p1 of oru, layer 1: 2.0 -> 9.0 (+7.0)",
        "Default, ela-oru, retrieval_p1 of oru, untrained, frozen, layer 0: 50.0 -> 60.0 (+10.0)",
        "Default, ela-oru, retrieval_p1 of oru, layer 0, after update 10: 5.0 -> 15.0 (+10.0)",
    ]


def test_settings_are_named_by_where_they_stand_and_values_are_words() -> None:
    a = report(
        settings={
            "scale": {"updates": 10, "rate": 0.1},
            "seeds": [0],
            "text": {"languages": [{"name": "ela", "order": "svo"}], "world": {"most_words": 7, "aligner": []}},
        },
        data_files=[{"name": "wiki.fr", "digest": "1"}, {"name": "wiki.ru", "digest": "2"}],
        is_made_up=True,
        vocabularies=[{"condition": "default", "languages": ["en", each], "merges": 7} for each in ("fr", "ru")],
        makings=[VM],
        departures=[{"file": "isoglot/study/scales.py", "sentence": "the paper does not say."}],
        # Of these nothing is told: they are not known yet, or follow from the rest, or tell how far a study is.
        words=[{"language": "ela", "types": {"ela": 5}}],
        commit="a",
        budget={"models": 1},
        seconds=1.0,
    )
    b = report(
        settings={
            "scale": {"updates": 20, "rate": 0.1},
            "seeds": [0, 1],
            "text": {"languages": [{"name": "ela", "order": "sov"}], "resources": TOO_LONG},
        },
        data_files=[{"name": "other.fr", "digest": "9"}, {"name": "wiki.fr", "digest": "1"}],
        is_made_up=False,
        vocabularies=[{"condition": "default", "languages": ["en", each], "merges": 9} for each in ("ru", "fr")],
        makings=[VM | {"hardware": {"cores": 2, "gpus": []}, "commit": "b" * 40 + "-dirty", "artifacts": 7}, VM],
        departures=[],
        words=[{"language": "ela", "types": {"ela": 5, "oru": 7}}],
        commit="b",
        budget={"models": 2},
        seconds=2.0,
    )
    found = difference(a, b)
    settings = [
        ("scale.updates", "10", "20"),
        ("seeds", "0", "0, 1"),
        ("text.languages.ela.order", "svo", "sov"),
        ("text.world", "most words 7", None),
        ("text.resources", None, "9 entries"),
        ("data file wiki.ru", "digest 2", None),
        ("data file other.fr", None, "digest 9"),
        ("made up", "yes", "no"),
    ]
    circumstances = [
        ("vocabulary of default, en, fr, merges", "7", "9"),
        ("vocabulary of default, en, ru, merges", "7", "9"),
        ("made on vm, hardware", None, "cores 2"),
        ("made on vm, commit", "a" * 12, f"{'b' * 12}-dirty"),
        ("made on vm (2)", None, f"commit {'a' * 12}, versions (torch 2.0)"),
        ("departure in isoglot/study/scales.py, the paper does not say.", "there", None),
    ]
    for kind, expected in ((Kind.SETTING, settings), (Kind.CIRCUMSTANCE, circumstances), (Kind.NUMBER, [])):
        assert [(each.name, each.a, each.b) for each in found if each.kind is kind] == expected
    told = list(difference_sentences(found))
    assert told[:2] == ["Settings that differ (8):", "  scale.updates: 10 -> 20"]
    assert told[-2:] == [
        "Of the code, the machines and what was made, 6 things differ; see the page.",
        "No number differs.",
    ]


def test_the_largest_clear_differences_of_each_exhibit_are_told_first() -> None:
    values = [float(value) for value in range(20)]
    a = report(measured("default", values), transferred("default", {"oru": 50.0, "ela": 9.0}), settings={"rate": 1})
    b = report(
        *(measured("default", [2 * value for value in values]), transferred("default", {"oru": 51.0})),
        settings={"rate": 2},
    )
    found = difference(a, b)
    told = list(difference_sentences(found))
    assert told[:4] == [
        "Settings that differ (1):",
        "  rate: 1 -> 2",
        "emergence: 19 numbers of both differ, 16 by more than noise:",
        "  Default, ela-oru, retrieval_p1 of oru, layer 19: 19.0 -> 38.0 (+19.0)",
    ]
    of_table_1 = "table-1: 1 number of both differs, 0 by more than noise; 1 is in one report alone"
    assert told[-2:] == ["  and 4 more", f"{of_table_1}."]
