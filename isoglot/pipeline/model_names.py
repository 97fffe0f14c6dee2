"""Names of models and cells in one grammar: [STUDY:]CONDITION, then words in any order after colons or spaces.

Words are a language, a pair, a seed and "untrained"; for a cell also an exhibit, a task, a layer or a variant. So
"demo:default:oru:1" is a model as it reads one language, "sep-emb:en-fr:1" a model, and "sep-emb:1 nli" a cell.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from isoglot.errors import IsoglotError, suggestion
from isoglot.pipeline.cells import FIGURE_4, FIGURE_6, FIGURE_7, OF_PRIME, UNTRAINED, Cell
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.model_pairs import Side
from isoglot.pipeline.stages.layer_transfer import LayerTransfer
from isoglot.store import Record, Stage, Store, inputs_first
from isoglot.store.store import BRING_WHOLE
from isoglot.study.conditions import DEFAULT, MONOLINGUAL, Condition, known_condition
from isoglot.study.exhibit_names import ALWAYS_SHOWN, EXHIBITS
from isoglot.study.languages import PRIME, original
from isoglot.study.study import Study
from isoglot.study.study_file import builtin_study_names, data_folder, read_study

if TYPE_CHECKING:
    from isoglot.evaluation.geometry.arrays import Model
    from isoglot.evaluation.geometry.reader import Reader

FORM = 'write a model as STUDY:CONDITION:LANGUAGE, perhaps with a pair, a seed or "untrained", as in demo:default:oru:1'
OWN_NAME = "demo:monolingual:oru (study, condition, language)"
KINDS_OF_NAMES = (
    "a model is a folder with config.json, a name on the Hugging Face hub such as xlm-roberta-base, or one of "
    f"isoglot's own such as {OWN_NAME}"
)


def load_model(
    name: str | Path, *, store: str | Path = "store", data: str | Path | None = None, study: Study | None = None
) -> Model:
    """Any model by its name: one of isoglot's in a store, one on the Hugging Face hub, or a folder with config.json.

    isoglot's own are called STUDY:CONDITION:LANGUAGE, perhaps with a pair, a seed or "untrained" after more colons;
    `data` is the folder that paths in that study start from, as in `Study.load`. For a study that was made in Python,
    give it as `study`, and leave it out of the name.

    >>> model = ig.load_model("demo:default:oru", store="store")
    >>> model.num_layers
    4
    """
    from isoglot.evaluation.geometry.arrays import Model

    if study is not None and data is not None:
        raise IsoglotError("load_model: the study knows its files already; leave out data=, or name the study's file")
    place, folder = Store(Path(store)), data_folder(data)
    return Model(named_reader(str(name), store=place, data=folder, study=study), name=str(name))


def named_reader(
    name: str,
    *,
    store: Store,
    data: Path | None = None,
    study: Study | None = None,
    language: str | None = None,
    partner: str | None = None,
) -> Reader:
    """A model that reads raw lines, on this machine's device; of isoglot's own, also one that a study names.

    For those, the language it reads and the other one of its pair may stand beside the name.
    """
    # A folder, then isoglot's own where a colon is in the name, then a name on the hub.
    from isoglot.evaluation.geometry.transformers_reader import read_transformers
    from isoglot.machine import this_machine
    from isoglot.pipeline.stages.readers import opened_reader

    if study is None and (not name.strip() or name in builtin_study_names()):
        raise IsoglotError(f"{name!r} names no model; {FORM}")
    is_folder = study is None and Path(name).is_dir()
    if is_folder and not (Path(name) / "config.json").is_file():
        raise IsoglotError(f"{name}: a folder without config.json; {KINDS_OF_NAMES}")
    if study is not None or is_own(name):
        side = named_side(name, store=store, data=data, study=study, language=language, partner=partner)
        return opened_reader(store.verified_folder, side.encoder, language=side.language)
    if not is_folder and (not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) or name.endswith(".toml")):
        raise IsoglotError(f"{name}: there is no such folder, it has no colon, and it is no hub name; {KINDS_OF_NAMES}")
    try:
        return read_transformers(name, device=this_machine().device)
    except IsoglotError as error:
        if is_folder:
            raise
        raise IsoglotError(f"{error}; one of isoglot's own has colons in its name, as in {OWN_NAME}") from error


def is_own(name: str) -> bool:
    """Whether a name is of one of isoglot's models: it has a colon and is no folder."""
    return ":" in name and not Path(name).is_dir()


def named_side(
    name: str,
    *,
    store: Store,
    data: Path | None = None,
    language: str | None = None,
    partner: str | None = None,
    study: Study | None = None,
) -> Side:
    """A language as a model of the store reads it; the language, and the study, may stand beside the name."""
    study_name, *words = name.split(":") if study is None else ("", name)
    if not words:
        raise IsoglotError(f"{name!r} names no model; {FORM}")
    if study is not None and name.startswith(f"{study.name}:"):
        own = name.removeprefix(f"{study.name}:")
        raise IsoglotError(f"{name!r}: leave the study out of the name, as study= says which it is: {own!r}")
    study = study or read_study(study_name, data=data)
    condition, *choices = _parts(":".join(words))
    if language is not None:
        if other := [choice for choice in choices if choice in study.languages and choice != language]:
            raise IsoglotError(
                f"{name}: the name says {other[0]}, and {language} is to be read; leave {other[0]} out of the name"
            )
        pairs = ["-".join(pair) for pair in study.pairs if {*pair} == {language, partner}]
        choices = [language, *pairs, *(choice for choice in choices if choice not in (language, *pairs))]
    side = _side(name, study, _condition(name, condition, study=study), choices)
    if store.has(side.encoder):
        return side
    if store.find_folder(side.encoder) is not None:
        raise IsoglotError(f"{name}: {store.root} has only a summary of this model; {BRING_WHOLE}")
    making = _making(study_name, side, store, data) if study_name else "; make it with: isoglot.run(study, store=...)"
    raise IsoglotError(f"{name}: this model is not in {store.root} yet{making}")


def named_artifact(name: str, *, study: Study, store: Store) -> Stage | Record:
    """A model or a cell of a study, or an artifact of the store; where several fit, the first."""
    condition, *choices = _parts(name)
    try:
        known = _condition(name, condition, study=study)
    except IsoglotError as no_condition:
        try:
            return store.find(name)
        except IsoglotError as error:
            raise IsoglotError(f"{error}; {no_condition}") from None
    models = {each: graph.pretrained for each, graph in _models(study, known)}
    measured = {each: cell.stage for each, cell in _cells(study, known.name)}
    for each, stage in (*models.items(), *measured.items()):
        if each.fits(choices):
            return stage
    for choice in choices:
        if choice in EXHIBITS and choice not in (*study.exhibits, ALWAYS_SHOWN):
            listed = ", ".join(study.exhibits)
            raise IsoglotError(f"{name!r}: {choice} is no exhibit of {study.name}, which has {listed}")
    is_of_a_cell = any(choice in each.measured for each in measured for choice in choices)
    fitting = [each.spelled(known.name) for each in (measured if is_of_a_cell else models)]
    raise IsoglotError(f"{name!r} is none of {study.name}'s {', '.join(fitting)}")


def same_of_default(name: str, *, study: Study) -> str:
    """ "default:ela-oru:1 table-1 nli" for the cell "sep-emb:1 nli"; for a model or an artifact "default"."""
    condition, *choices = _parts(name)
    known = known_condition(condition, among=(*study.conditions, MONOLINGUAL))
    if known is None or any(model.fits(choices) for model, _ in _models(study, known)):
        return DEFAULT.name
    cell = next((each for each, _ in _cells(study, known.name) if each.fits(choices)), None)
    if cell is None:
        return DEFAULT.name
    if cell not in dict(_cells(study, DEFAULT.name)):
        raise IsoglotError(f"{name!r} has nothing of its like in Default; say with what to compare it")
    return cell.spelled(DEFAULT.name)


def known_artifacts(study: Study, store: Store) -> Iterator[Stage | Record]:
    """Everything the study names, made or not, and everything the store holds."""
    yield from store.records()
    yield from inputs_first(cell.stage for cell in cells(study)).values()


def _parts(name: str) -> list[str]:
    return re.split(r"[:\s]+", name.strip())


def _condition(name: str, condition: str, *, study: Study) -> Condition:
    # The study's own, any other of the paper, or models of one language.
    known = known_condition(condition, among=(*study.conditions, MONOLINGUAL))
    if known is None:
        names = [each.name for each in (*study.conditions, MONOLINGUAL)]
        raise IsoglotError(
            f"{name}: {condition!r} is no condition; {study.name} has {', '.join(names)}{suggestion(condition, names)}"
        )
    return known


def _side(name: str, study: Study, condition: Condition, choices: list[str]) -> Side:
    pairs = {"-".join(pair): pair for pair in study.pairs}
    languages = [choice for choice in choices if choice in (*study.languages, study.languages[0] + PRIME)]
    named_pairs = [choice for choice in choices if choice in pairs]
    seeds = [choice for choice in choices if choice.isdecimal()]
    unknown = [choice for choice in choices if choice not in (*languages, *named_pairs, *seeds, UNTRAINED)]
    if unknown:
        known = ", ".join((*study.languages, *pairs))
        raise IsoglotError(f"{name}: {unknown[0]!r} is no language, pair or seed of {study.name} ({known}); {FORM}")
    if len(languages) != 1:
        raise IsoglotError(f"{name}: name one language, {' or '.join(study.languages)}; {FORM}")
    for kind, given in (("seeds", seeds), ("pairs", named_pairs)):
        if len(given) > 1:
            raise IsoglotError(f"{name}: names the {kind} {' and '.join(given)}; leave one of them; {FORM}")
    owners = _languages(name, study, condition, languages[0], [pairs[each] for each in named_pairs])
    seed = int(seeds[0]) if seeds else study.seeds[0]
    graph = ModelGraph(study=study, condition=condition, languages=owners, seed=seed)
    return Side(graph=graph, language=languages[0], is_trained=UNTRAINED not in choices)


def _languages(
    name: str, study: Study, condition: Condition, language: str, pairs: list[tuple[str, str]]
) -> tuple[str, ...]:
    # The languages of the model: the one alone, or the pair it belongs to.
    if condition is MONOLINGUAL:
        return (language,)
    if language.endswith(PRIME):
        if condition != OF_PRIME:
            raise IsoglotError(
                f"{name}: a language's second model is trained alone ({MONOLINGUAL.name}) or with the first under "
                f"{OF_PRIME.name}, as in Figure 7"
            )
        return (study.languages[0], language)
    fitting = [pair for pair in pairs or study.pairs if language in pair]
    known = ", ".join("-".join(pair) for pair in study.pairs)
    if not fitting:
        raise IsoglotError(f"{name}: no model of that pair reads {language!r}; the pairs are {known}")
    if len(fitting) > 1:
        raise IsoglotError(f"{name}: several models read {language!r}; say which pair: {known}")
    return fitting[0]


def _making(study_name: str, side: Side, store: Store, data: Path | None) -> str:
    # The command, with an exhibit that shows the model and its condition, as the study's own may not.
    graph, choices = side.graph, list[str]()
    study, is_second = graph.study.replace(seeds=[graph.seed]), graph.languages[-1].endswith(PRIME)
    if graph.condition is not MONOLINGUAL and not is_second:
        choices = ["--conditions", graph.condition.name]
        study = study.with_conditions(graph.condition)
    # Exhibits that show all models of a kind, unless the study narrows them.
    two_languages = ("emergence", "table-1", "growth", FIGURE_6, FIGURE_7)
    for exhibit in two_languages if choices else (FIGURE_7,) if is_second else (FIGURE_7, FIGURE_6, FIGURE_4):
        part = study.of_exhibit(exhibit)
        if part.seeds and part.conditions and {*map(original, graph.languages)} <= {*part.languages}:
            words = ["isoglot", "run", study_name, "--store", str(store.root), *(["--data", str(data)] if data else [])]
            words += ["--exhibits", exhibit, *choices, "--seeds", str(graph.seed)]
            return f"; make it with: {shlex.join(words)}"
    return f", and {study_name} does not ask for it: the tables [only] in it leave it out"


class _Name(NamedTuple):
    """The words that may follow a condition."""

    model: tuple[str, ...]  # a pair, or one language, and perhaps a seed
    measured: tuple[str, ...] = ()

    def fits(self, choices: Iterable[str]) -> bool:
        return {*choices} <= {*self.model, *self.measured}

    def spelled(self, condition: str) -> str:
        """ "default:en-fr:0 table-1 nli" """
        return " ".join([":".join([condition, *self.model]), *self.measured])


def _models(study: Study, condition: Condition) -> Iterator[tuple[_Name, ModelGraph]]:
    source = study.languages[0]
    owners: list[tuple[str, ...]] = [*study.pairs, *([(source, source + PRIME)] if condition == OF_PRIME else [])]
    if condition is MONOLINGUAL:
        owners = [(language,) for language in (*study.languages, source + PRIME)]
    for languages, seed in product(owners, study.seeds):
        graph = ModelGraph(study=study, condition=condition, languages=languages, seed=seed)
        yield _Name(("-".join(languages), str(seed))), graph


def _cells(study: Study, condition: str) -> Iterator[tuple[_Name, Cell]]:
    # The cells of a condition, those of trained and unmapped models first, and of these those of two languages.

    def order(cell: Cell) -> tuple[int, bool]:
        return len(cell.variant or ""), any(language.endswith(PRIME) for language in cell.languages)

    for cell in sorted((cell for cell in cells(study) if cell.condition == condition), key=order):
        layer = f"L{cell.stage.layer}" if isinstance(cell.stage, LayerTransfer) else None
        model = ("-".join(cell.languages), None if cell.seed is None else str(cell.seed))
        measured = (cell.exhibit, cell.task, layer, *(cell.variant or "").split("-"))
        yield _Name(tuple(filter(None, model)), tuple(filter(None, measured))), cell
