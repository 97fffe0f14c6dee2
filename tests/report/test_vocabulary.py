"""The table of vocabularies shows each number in its place, and warns where sizes differ."""

from dataclasses import replace

from isoglot.pipeline.cells import VOCABULARY
from isoglot.pipeline.measurements import Measurement
from isoglot.report.tables.vocabulary import HEADINGS, vocabulary_tables
from isoglot.study.scales import DEMO
from tests.report.made_up_measurements import measurement

NUMBERS = {
    "anchor_types": (1234,),
    "anchor_similarity": (0.25,),
    "training_words": (2_000_000, 1_000_000),
    "training_tokens": (3_000_000, 2_250_000),
    "tokens_per_word": (1.5, 2.25),
    "unknown_share_held_out": (0.0, 0.125),
    "subword_types": (5000, 4000),
    "anchor_token_share": (10.0, 20.0),
}


def counted(condition: str, **changes: tuple[float, float]) -> list[Measurement]:
    return [
        replace(measurement(condition, value, metric=metric, exhibit=VOCABULARY, seed=None), language=language)
        for metric, values in (NUMBERS | changes).items()
        for language, value in zip(("ela", "oru"), values, strict=False)
    ]


def test_numbers_stand_in_their_places() -> None:
    scale = replace(DEMO, language_exponent=0.0, updates=9_000, batch=100, window=50)
    (table,) = vocabulary_tables(counted("default"), scale=scale)
    assert table.title == "Vocabularies (ela-oru)"
    assert dict(zip(HEADINGS, table.lines[0], strict=True)) == {
        "Model": "Default",
        "words": "2.0M / 1.0M",
        # Each has half of 45M tokens.
        "read": "7.5x / 10x",
        "tokens/word": "1.50 / 2.25",
        "unknown %": "0.000 / 0.125",
        "types": "5,000 / 4,000",
        "shared types": "1,234",
        "of tokens %": "10.0 / 20.0",
        "likeness": "0.250",
    }


def test_a_small_second_domain_and_the_share_of_words_that_may_change_are_told() -> None:
    def notes(*found: Measurement) -> tuple[str, ...]:
        (table,) = vocabulary_tables(found, scale=DEMO)
        return tuple(table.notes)

    default = counted("default")
    assert notes(*default, *counted("wiki-cc", training_words=(2_000_000, 990_000))) == ()
    (small,) = notes(*default, *counted("wiki-cc", training_words=(2_000_000, 400_000)))
    assert "only 40% of the words of the first" in small
    assert "set most_words = 400000 under [text]" in small
    (extra,) = notes(*counted("extra-anchors", dictionary_word_share=(60.4, 30.0)))
    assert "counted before words change: its dictionary has 60% of ela and 30% of oru running words" in extra
