"""What two languages have in common in the vocabulary of each model, in the terminal and on the page alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isoglot.conditions import condition_named
from isoglot.exhibits import VOCABULARY
from isoglot.measurements import Measurement
from isoglot.report.quantities import short_number

HEADINGS = ("Model", "words", "tokens/word", "unknown %", "types", "shared types", "of tokens %", "likeness")
CAPTION = (
    "words: to train on; unknown: of held-out tokens; shared types: met in both languages; of tokens: of all that are "
    "read in training; likeness: 1 less the Jensen-Shannon divergence of the languages' tokens, in bits"
)


@dataclass(frozen=True, kw_only=True)
class VocabularyTable:
    """One pair of languages; where a number is of each, the source language's comes first."""

    title: str
    lines: list[tuple[str, ...]]
    caption: str


def vocabulary_tables(measurements: Sequence[Measurement]) -> Iterator[VocabularyTable]:
    """One for each pair of languages, in the order they came."""
    counted = [each for each in measurements if each.exhibit == VOCABULARY]
    for languages in dict.fromkeys(each.languages for each in counted):
        of_pair = [each for each in counted if each.languages == languages]
        conditions = dict.fromkeys(each.condition for each in of_pair)
        yield VocabularyTable(
            title=f"Vocabularies ({'-'.join(languages)})",
            lines=[_line([each for each in of_pair if each.condition == name], name) for name in conditions],
            caption=CAPTION + _of_dictionary(of_pair),
        )


def _line(of_condition: Sequence[Measurement], condition: str) -> tuple[str, ...]:
    return (
        condition_named(condition).label,
        " / ".join(short_number(value) for value in _values(of_condition, "training_words")),
        " / ".join(f"{value:.2f}" for value in _values(of_condition, "tokens_per_word")),
        " / ".join(f"{value:.3f}" for value in _values(of_condition, "unknown_share_held_out")),
        " / ".join(f"{value:,.0f}" for value in _values(of_condition, "subword_types")),
        " / ".join(f"{value:,.0f}" for value in _values(of_condition, "anchor_types")),
        " / ".join(f"{value:.1f}" for value in _values(of_condition, "anchor_token_share")),
        " / ".join(f"{value:.3f}" for value in _values(of_condition, "anchor_similarity")),
    )


def _values(measurements: Sequence[Measurement], metric: str) -> list[float]:
    return [each.value for each in measurements if each.metric == metric]


def _of_dictionary(of_pair: Sequence[Measurement]) -> str:
    """What share of the words may be switched, where there are extra anchors."""
    shares = [f"{each.value:.0f}% of {each.language}" for each in of_pair if each.metric == "dictionary_word_share"]
    return f"; the dictionary of extra anchors has {' and '.join(shares)} running words" if shares else ""
