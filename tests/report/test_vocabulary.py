"""The table of vocabularies shows each number in its place, and warns where sizes differ."""

from dataclasses import replace

from isoglot.pipeline.cells import VOCABULARY
from isoglot.pipeline.measurements import Measurement
from isoglot.report.vocabulary import HEADINGS, vocabulary_tables
from tests.report.made_up_measurements import measurement

OF_BOTH = {"anchor_types": 1234, "anchor_similarity": 0.25}
OF_EACH = {
    "training_words": (2_000_000, 1_000_000),
    "tokens_per_word": (1.5, 2.25),
    "unknown_share_held_out": (0.0, 0.125),
    "subword_types": (5000, 4000),
    "anchor_token_share": (10.0, 20.0),
}


def counted(condition: str, **changes: tuple[float, float]) -> list[Measurement]:
    blank = replace(measurement(condition, 0.0, metric=""), exhibit=VOCABULARY, seed=None)
    found = [replace(blank, metric=metric, value=value) for metric, value in OF_BOTH.items()]
    for metric, values in (OF_EACH | changes).items():
        for language, value in zip(blank.languages, values, strict=True):
            found.append(replace(blank, metric=metric, language=language, value=value))
    return found


def test_numbers_stand_in_their_places() -> None:
    (table,) = vocabulary_tables(counted("default"))
    assert table.title == "Vocabularies (ela-oru)"
    assert dict(zip(HEADINGS, table.lines[0], strict=True)) == {
        "Model": "Default",
        "words": "2.0M / 1.0M",
        "tokens/word": "1.50 / 2.25",
        "unknown %": "0.000 / 0.125",
        "types": "5,000 / 4,000",
        "shared types": "1,234",
        "of tokens %": "10.0 / 20.0",
        "likeness": "0.250",
    }


def test_a_second_domain_that_is_too_small_is_told() -> None:
    like = counted("wiki-cc", training_words=(2_000_000, 990_000))
    (table,) = vocabulary_tables([*counted("default"), *like])
    assert table.notes == ()
    small = counted("wiki-cc", training_words=(2_000_000, 400_000))
    (table,) = vocabulary_tables([*counted("default"), *small])
    (remark,) = table.notes
    assert "only 40% of the words of the first" in remark
    assert "set most_words = 400000 under [text]" in remark


def test_the_share_of_words_that_may_change_is_told() -> None:
    extra = counted("extra-anchors", dictionary_word_share=(60.4, 30.0))
    (table,) = vocabulary_tables(extra)
    assert "counted before words change: its dictionary has 60% of ela and 30% of oru running words" in table.notes[0]
