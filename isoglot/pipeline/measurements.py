"""Every number of a study, read from the artifacts that hold it."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import NamedTuple, TextIO

from isoglot.corpora.streams import DESCRIPTION
from isoglot.errors import IsoglotError
from isoglot.pipeline.cells import AT, EMERGENCE, GROWTH_TASKS, UNTRAINED, Cell
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.stages.emergence import Emergence
from isoglot.pipeline.stages.models import AnyEncoder, PretrainedEncoder
from isoglot.pipeline.stages.readers import TwoModelStage
from isoglot.pipeline.stages.scores import SCORES, read_scores
from isoglot.pipeline.stages.training_log import chosen_evaluation, evaluations
from isoglot.pretraining.run import HEALTH, LOG
from isoglot.store import Store, inputs_first
from isoglot.study.conditions import MONOLINGUAL
from isoglot.study.study import Study

# Files of artifacts that numbers, curves and remarks of a report are read from, whatever their size.
READ_BY_REPORTS = (SCORES, LOG, DESCRIPTION, HEALTH)


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One number, as `isoglot results --json` prints it; null where a field does not apply."""

    study: str
    exhibit: str
    condition: str
    languages: tuple[str, str]
    language: str
    task: str | None
    metric: str
    variant: str | None = None  # variant of the model, as in a cell; null is the pretrained model as it is
    layer: int | None
    update: int | None = None  # the update after which the model was scored, where that is not the chosen one
    seed: int | None
    value: float
    stage: str  # digest of the artifact that was scored, or that holds the number

    def json_line(self) -> str:
        return json.dumps(vars(self), ensure_ascii=False)


def write_csv(found: Sequence[Measurement], *, to: TextIO) -> None:
    """A header and a line for each; a pair of languages is written en-de, and what does not apply is empty."""
    writer = csv.DictWriter(to, [each.name for each in fields(Measurement)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(vars(each) | {"languages": "-".join(each.languages)} for each in found)


class Damage(NamedTuple):
    """A cell whose numbers the store cannot give, although it has them."""

    cell: Cell
    error: IsoglotError


def measurements(study: Study, store: Store) -> tuple[list[Measurement], list[Damage]]:
    """Every number the store holds for the study, and what is wrong with those it cannot give."""
    numbers: list[Measurement] = []
    damage: list[Damage] = []
    for cell in cells(study):
        try:
            if (stored := store.lookup(cell.stage, read=(SCORES,))) is not None:
                numbers += _of_cell(cell, stored.folder, study=study, store=store)
        except IsoglotError as error:
            damage.append(Damage(cell, error))
    return numbers, damage


def damage_sentences(damage: Iterable[Damage]) -> list[str]:
    """Each thing that is wrong, once: several cells may rest on one artifact."""
    return [*dict.fromkeys(str(each.error) for each in damage)]


def pending_cells(study: Study, store: Store) -> list[Cell]:
    """Cells that the store has nothing for yet; a damaged artifact is not pending."""
    return [cell for cell in cells(study) if store.find_folder(cell.stage) is None]


def _of_cell(cell: Cell, folder: Path, *, study: Study, store: Store) -> Iterator[Measurement]:
    own = {name: getattr(cell, name) for name in ("exhibit", "condition", "languages", "task", "variant", "seed")}
    target, digest = cell.languages[1], cell.stage.digest
    blank = Measurement(**own, study=study.name, language=target, metric="", layer=None, value=0.0, stage=digest)
    if cell.exhibit == GROWTH_TASKS and cell.variant != UNTRAINED:
        blank = replace(blank, variant=None, update=_moment(cell, store=store))
    for score in read_scores(folder):
        # A score without a layer, such as chance, does not depend on training: the trained model's cell has it.
        if cell.exhibit != EMERGENCE or score.layer is not None or cell.variant is None:
            own_place = {"language": score.language or blank.language, "update": score.update or blank.update}
            yield replace(blank, **asdict(score) | own_place)
    match cell.stage:
        case Emergence(encoder=encoder) if cell.variant is None:
            yield from _of_training(blank, encoder, store=store)
        case TwoModelStage(encoders=encoders) if cell.variant is None and cell.condition == MONOLINGUAL.name:
            for language, encoder in sorted(encoders.items()):
                yield from _of_training(replace(blank, language=language), encoder, store=store)


def _moment(cell: Cell, *, store: Store) -> int:
    # The update after which a model was fine-tuned: in its cell's name, or for the last moment in its log.
    if cell.variant is not None:
        return int(cell.variant.removeprefix(AT))
    encoder = next(each for each in inputs_first([cell.stage]).values() if isinstance(each, PretrainedEncoder))
    stored = store.lookup(encoder, read=(LOG,))
    rows = [] if stored is None else evaluations(stored.folder)
    return chosen_evaluation(rows, source=cell.languages[0]).update if rows else encoder.run.updates


def _of_training(blank: Measurement, encoder: AnyEncoder, *, store: Store) -> Iterator[Measurement]:
    # Dev perplexity of each language at the update whose model was chosen.
    stored, blank = store.lookup(encoder, read=(LOG,)), replace(blank, stage=encoder.digest)
    if stored is not None and (rows := evaluations(stored.folder)):
        chosen = chosen_evaluation(rows, source=encoder.run.languages[0])
        yield replace(blank, metric="chosen_update", value=chosen.update)
        for language, value in chosen.perplexity.items():
            yield replace(blank, metric="dev_perplexity", language=language, value=value)
