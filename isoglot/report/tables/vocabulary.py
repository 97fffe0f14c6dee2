"""Vocabularies of two languages in each model, and how much they share."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from isoglot.pipeline.cells import VOCABULARY
from isoglot.pipeline.measurements import Measurement
from isoglot.pretraining.run import language_probabilities
from isoglot.report.quantities import short_number
from isoglot.report.tables.grid import Grid
from isoglot.study.conditions import Domain, condition_named
from isoglot.study.scales import Scale

READ = "times_read"  # made here of training_tokens
# The metric below each heading, and how to write it.
COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "words": ("training_words", short_number),
    "read": (READ, lambda times: f"{times:.2g}x" if times < 10 else f"{times:.0f}x"),
    "tokens/word": ("tokens_per_word", "{:.2f}".format),
    "unknown %": ("unknown_share_held_out", "{:.3f}".format),
    "types": ("subword_types", "{:,.0f}".format),
    "shared types": ("anchor_types", "{:,.0f}".format),
    "of tokens %": ("anchor_token_share", "{:.1f}".format),
    "likeness": ("anchor_similarity", "{:.3f}".format),
}
HEADINGS = ("Model", *COLUMNS)
CAPTION = (
    "words: to train on; read: about how many times in training; unknown: of held-out tokens; shared types: met in "
    "both languages; of tokens: of all that are read in training; likeness: 1 less the Jensen-Shannon divergence of "
    "the languages' tokens, in bits"
)
# With fewer words than this share, rows of the two domains differ in size as well.
ALIKE = 0.95


def vocabulary_tables(measurements: Sequence[Measurement], *, scale: Scale) -> Iterator[Grid]:
    """One for each pair of languages, in the order they came; CAPTION explains the columns."""
    counted = [each for each in measurements if each.exhibit == VOCABULARY]
    for languages in dict.fromkeys(each.languages for each in counted):
        of_pair = [each for each in counted if each.languages == languages]
        lines = []
        for name in dict.fromkeys(each.condition for each in of_pair):
            here = [each for each in of_pair if each.condition == name]
            here += _times_read(here, scale=scale)
            # Where a number is given for each language, the source language's comes first.
            cells = (
                " / ".join(text(each.value) for each in here if each.metric == metric)
                for metric, text in COLUMNS.values()
            )
            lines.append((condition_named(name).label, *cells))
        remarks = (*_dictionary_remarks(of_pair), *_domain_remarks(of_pair))
        yield Grid(f"Vocabularies ({'-'.join(languages)})", HEADINGS, lines, notes=remarks)


def _times_read(of_model: Sequence[Measurement], *, scale: Scale) -> list[Measurement]:
    """How often a model comes through the text of each language, drawn as training draws them."""
    # By tokens, where training counts lines: the same where languages are drawn alike, and near it elsewhere.
    counted = [each for each in of_model if each.metric == "training_tokens"]
    tokens = {each.language: int(each.value) for each in counted}
    shares = language_probabilities(tokens, exponent=scale.language_exponent)
    return [replace(each, metric=READ, value=scale.tokens * shares[each.language] / each.value) for each in counted]


def _dictionary_remarks(of_pair: Sequence[Measurement]) -> Iterator[str]:
    """The share of words that may be switched, where there are extra anchors."""
    shares = [f"{each.value:.0f}% of {each.language}" for each in of_pair if each.metric == "dictionary_word_share"]
    if shares:
        yield f"Extra anchors is counted before words change: its dictionary has {' and '.join(shares)} running words"


def _domain_remarks(of_pair: Sequence[Measurement]) -> Iterator[str]:
    """A warning where the second domain could not be given as many words as the first."""
    of_target = [each for each in of_pair if each.metric == "training_words" and each.language == each.languages[1]]
    main, other = (
        [each.value for each in of_target if condition_named(each.condition).target_domain is domain]
        for domain in (Domain.MAIN, Domain.OTHER)
    )
    if other and main and other[0] <= ALIKE * main[0]:
        yield (
            f"the other domain has only {100 * other[0] / main[0]:.0f}% of the words of the first, so that rows of the "
            f"two differ in size as well: set most_words = {other[0]:.0f} under [text] to compare like with like"
        )
