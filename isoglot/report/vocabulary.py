"""Vocabularies of two languages in each model, and how much they share."""

from collections.abc import Iterator, Sequence

from isoglot.pipeline.cells import VOCABULARY
from isoglot.pipeline.measurements import Measurement
from isoglot.report.grid import Grid
from isoglot.report.quantities import short_number
from isoglot.study.conditions import Domain, condition_named

HEADINGS = ("Model", "words", "tokens/word", "unknown %", "types", "shared types", "of tokens %", "likeness")
CAPTION = (
    "words: to train on; unknown: of held-out tokens; shared types: met in both languages; of tokens: of all that are "
    "read in training; likeness: 1 less the Jensen-Shannon divergence of the languages' tokens, in bits"
)


ALIKE = 0.95


def vocabulary_tables(measurements: Sequence[Measurement]) -> Iterator[Grid]:
    """One for each pair of languages, in the order they came.

    Where a number is given for each language, the source language's comes first. CAPTION explains the columns.
    """
    counted = [each for each in measurements if each.exhibit == VOCABULARY]
    for languages in dict.fromkeys(each.languages for each in counted):
        of_pair = [each for each in counted if each.languages == languages]
        conditions = dict.fromkeys(each.condition for each in of_pair)
        lines = [_line([each for each in of_pair if each.condition == name], name) for name in conditions]
        remarks = (*_dictionary_remarks(of_pair), *_domain_remarks(of_pair))
        yield Grid(f"Vocabularies ({'-'.join(languages)})", HEADINGS, lines, notes=remarks)


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


def _dictionary_remarks(of_pair: Sequence[Measurement]) -> Iterator[str]:
    """The share of words that may be switched, where there are extra anchors."""
    shares = [f"{each.value:.0f}% of {each.language}" for each in of_pair if each.metric == "dictionary_word_share"]
    if shares:
        yield f"Extra anchors is counted before words change: its dictionary has {' and '.join(shares)} running words"


def _domain_remarks(of_pair: Sequence[Measurement]) -> Iterator[str]:
    """A warning where the second domain could not be given as many words as the first."""
    of_target = [each for each in of_pair if each.metric == "training_words" and each.language == each.languages[1]]
    other = [each.value for each in of_target if condition_named(each.condition).target_domain is Domain.OTHER]
    main = [each.value for each in of_target if condition_named(each.condition).target_domain is Domain.MAIN]
    if other and main and other[0] <= ALIKE * main[0]:
        yield (
            f"the other domain has only {100 * other[0] / main[0]:.0f}% of the words of the first, so that rows of the "
            f"two differ in size as well: set most_words = {other[0]:.0f} under [text] to compare like with like"
        )
