"""The places of an exhibit: cells, each filled by the scores of one stage, and gaps where data is missing."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from isoglot.errors import MissingDataError, UnnamedDataError
from isoglot.store import Stage
from isoglot.study.conditions import CONDITIONS

EMERGENCE = "emergence"
VOCABULARY = "vocabulary"
WORD_TRANSLATION = "word translation"  # a part of emergence, which is shown without it where its dictionary is missing
TABLE_1 = "table-1"
BASELINES = "baselines"
GROWTH = "growth"
GROWTH_TASKS = "growth-tasks"
AT = "@"  # before the update of a model at a moment of training, in the variant of its cell
UNTRAINED = "untrained"
FROZEN = "untrained-frozen"  # an untrained encoder that fine-tuning leaves as it is
MAPPED = "mapped"
FIGURE_4 = "figure-4"
FIGURE_5 = "figure-5"
FIGURE_6 = "figure-6"
FIGURE_7 = "figure-7"
FIGURE_8 = "figure-8"
OF_PRIME = CONDITIONS["sep-emb"]  # the condition of the model that reads one language twice (section 5.2)

Stages = Mapping[str | None, Stage]  # the stages that fill the cells of one model in an exhibit, by variant


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A place in an exhibit; its stage holds several scores."""

    exhibit: str
    condition: str
    languages: tuple[str, str]
    stage: Stage
    seed: int | None = None
    task: str | None = None
    variant: str | None = None  # UNTRAINED, FROZEN, MAPPED or "@1500"; None is the pretrained model as it is


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Cells that stay empty, as the study lacks a file they need."""

    exhibit: str
    condition: str
    languages: tuple[str, str]
    reason: str
    task: str | None = None
    is_named: bool = False
    """Whether the study names a file that is not there, or else names none."""


def filled(
    stages: Callable[[], Stages],
    *,
    exhibit: str,
    condition: str,
    languages: tuple[str, str],
    seed: int | None,
    task: str | None = None,
    part: str | None = None,
) -> Iterator[Cell | Gap]:
    """The cells of one model, or a gap, which is called by the `part` of the exhibit that is missing."""
    # Files are looked up here and not before: stages are made lazily, so that one model without its files leaves a gap
    # and the other models stay.
    place: dict[str, Any] = {"condition": condition, "languages": languages}
    try:
        for variant, stage in stages().items():
            yield Cell(**place, exhibit=exhibit, stage=stage, seed=seed, task=task, variant=variant)
    except MissingDataError as error:
        is_named = not isinstance(error, UnnamedDataError)
        yield Gap(**place, exhibit=part or exhibit, reason=str(error), task=task, is_named=is_named)
