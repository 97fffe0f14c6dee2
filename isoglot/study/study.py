"""A study: which languages, conditions, tasks, size, seeds and text make one question, read from a TOML file."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from isoglot.errors import IsoglotError, suggestion
from isoglot.study.conditions import CONDITIONS, MONOLINGUAL, TABLE_1, Condition, known_condition, named_in_file
from isoglot.study.exhibit_names import ALWAYS_SHOWN, EVERYTHING, ExhibitFilter, exhibits_named, parse_filters
from isoglot.study.exhibit_names import KEYS as KEYS_OF_FILTERS
from isoglot.study.languages import PRIME, RESERVED_NAMES
from isoglot.study.real_text import RealText, parse_real_text, task_names
from isoglot.study.scales import SCALES, Scale, changed_scale
from isoglot.study.synthetic_languages import Synthetic as Synthetic
from isoglot.study.synthetic_languages import parse_synthetic
from isoglot.study.toml_tables import (
    FileKey,
    Seed,
    Table,
    check_keys,
    checked,
    distinct,
    known_name,
    known_names,
    parsed_toml,
    quoted,
)

PAPER_TASKS = ("nli", "ner", "parsing")
OF_REAL_TEXT = ("text", "words", "resources")
KEYS = (
    *("name", "scale", "languages", "conditions", "exhibits", "tasks", "seeds", "only"),
    *("synthetic", *OF_REAL_TEXT, "change"),
)
BUILTIN_STUDIES = files("isoglot") / "builtin_studies"


@dataclass(frozen=True, kw_only=True)
class Study:
    """One question to answer. The first language is the source: the one that models are chosen by.

    >>> study = ig.Study.load("demo")
    >>> study.name, study.pairs
    ('demo', (('ela', 'oru'),))
    """

    name: str
    scale: Scale
    languages: tuple[str, ...]
    conditions: tuple[Condition, ...]
    exhibits: tuple[str, ...]
    tasks: tuple[str, ...]  # tasks that measure transfer; one file each in isoglot/evaluation/transfer/tasks
    seeds: tuple[int, ...]
    # Filters by exhibit, for exhibits about a part of the study.
    only: Mapping[str, ExhibitFilter] = field(default_factory=dict)
    text: Synthetic | RealText
    file_exhibits: tuple[str, ...]  # exhibits of its file; `exhibits` may be others
    origin: str  # the file it was read from, or the name of a built-in study: for messages

    @cached_property
    def derived(self) -> dict[str, Any]:
        """Kept with this very study, by whoever works something out from it that takes a while."""
        return {}

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The source with each target: a bilingual model is trained for each."""
        return tuple((self.languages[0], target) for target in self.targets)

    @property
    def targets(self) -> tuple[str, ...]:
        """All languages but the source. No model is fine-tuned in them."""
        return self.languages[1:]

    def of_exhibit(self, exhibit: str) -> "Study":
        """The study of one exhibit: the same with its lists as [only.EXHIBIT] narrows them."""
        only = self.only.get(exhibit, EVERYTHING)
        return replace(
            self,
            languages=(self.languages[0], *(target for target in self.targets if only.keeps("targets", target))),
            conditions=tuple(each for each in self.conditions if only.keeps("conditions", each.name)),
            tasks=tuple(task for task in self.tasks if only.keeps("tasks", task)),
            seeds=tuple(seed for seed in self.seeds if only.keeps("seeds", seed)),
        )

    @classmethod
    def load(cls, name_or_path: str | Path, *, data: str | Path | None = None) -> "Study":
        """A built-in study by its name, or any other by its TOML file.

        Paths in the file start from `data`, or else from the folder of the file.

        >>> ig.Study.load("demo").languages
        ('ela', 'oru')
        """
        return read_study(name_or_path, data=None if data is None else Path(data))

    def replace(
        self,
        *,
        name: str | None = None,
        targets: Iterable[str] | None = None,
        conditions: Iterable[Condition | str] | None = None,
        exhibits: Iterable[str] | None = None,
        tasks: Iterable[str] | None = None,
        seeds: Iterable[int] | None = None,
        change: Mapping[str, Any] | None = None,
    ) -> "Study":
        """The same study with other lists, checked as in a file; `change` holds what [change] does there.

        >>> study = ig.Study.load("demo").replace(seeds=[0, 1], tasks=["ner"], change={"shape": {"layers": 3}})
        >>> study.seeds, study.tasks, study.scale.shape.layers
        ((0, 1), ('ner',), 3)
        """
        study, place = self, FileKey(file="Study.replace")
        if name is not None:
            check_name(checked(name, str, place=place.at("name")), place=place.at("name"))
            study = replace(study, name=name)
        if change is not None:
            study = replace(study, scale=changed_scale(self.scale, change, place=place.at("change")))
            _check_held_out(study, place=place)
        # Checked again where the depth changes: a model may be too shallow for what they separate.
        conditions = self.conditions if conditions is None else conditions
        lists = {"targets": targets, "conditions": conditions, "tasks": tasks, "exhibits": exhibits, "seeds": seeds}
        return with_lists(study, lists, before="Study.replace: ")

    def with_conditions(self, *conditions: Condition | str) -> "Study":
        """The same study under other conditions: names of the paper's, or any that you make.

        >>> mine = ig.conditions.DEFAULT.replace(name="sep-l4", label="Sep L4", separate=ig.Separate(layers={4}))
        >>> [each.name for each in ig.Study.load("demo").with_conditions("default", mine).conditions]
        ['default', 'sep-l4']
        """
        return with_lists(self, {"conditions": conditions}, before="Study.with_")

    @property
    def shown_exhibits(self) -> tuple[str, ...]:
        """All but those of which the command line asks for what [only] forbids, so that nothing is left."""
        parts = ((exhibit, self.of_exhibit(exhibit)) for exhibit in self.exhibits)
        return tuple(exhibit for exhibit, part in parts if all(getattr(part, key) for key in KEYS_OF_FILTERS))


def builtin_study_names() -> tuple[str, ...]:
    names = (entry.name for entry in BUILTIN_STUDIES.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def read_study(name_or_path: str | Path, *, data: Path | None = None) -> Study:
    """A built-in study by its name, or any other by its file; paths in it start from `data`, or the file's folder."""
    name = str(name_or_path)
    if name in builtin_study_names():
        text = (BUILTIN_STUDIES / f"{name}.toml").read_text(encoding="utf-8")
        return parse_study(text, origin=f"built-in study {name}")
    path = Path(name_or_path)
    try:
        return parse_study(path.read_text(encoding="utf-8"), origin=name, data=data or path.parent)
    except FileNotFoundError:
        beside = (*builtin_study_names(), *(str(file) for file in path.parent.glob("*.toml")))
        raise IsoglotError(
            f"{name}: no such study; give the path of a .toml file, or one of {quoted(builtin_study_names())}"
            f"{suggestion(name, beside)}"
        ) from None
    except UnicodeDecodeError as error:
        raise IsoglotError(f"{name}: not UTF-8 text (byte {error.start}); a study is a TOML file in UTF-8") from None
    except OSError as error:
        raise IsoglotError(f"{name}: cannot be read ({error.strerror}); give the path of a .toml file") from None


def parse_study(text: str, *, origin: str, data: Path = Path()) -> Study:
    """A study from the text of its file; `origin` names the file in messages, and paths in it start from `data`."""
    place = FileKey(file=origin)
    table = parsed_toml(text, place=place)
    check_keys(table, KEYS, needed=("name", "scale", "languages"), place=place)
    name: str = checked(table["name"], str, place=place.at("name"))
    named = SCALES[known_name(table["scale"], SCALES, place=place.at("scale"))]
    scale = changed_scale(named, table.get("change", {}), place=place.at("change"))
    languages = distinct(table["languages"], str, at_least=2, place=place.at("languages"))
    for key, each in (*(("languages", language) for language in languages), ("name", name)):
        check_name(each, place=place.at(key))
    exhibits = exhibits_named(table.get("exhibits", ["emergence"]), place=place.at("exhibits"))
    study = Study(
        name=name,
        scale=scale,
        languages=languages,
        conditions=_conditions(table.get("conditions", list(CONDITIONS)), scale=scale, place=place.at("conditions")),
        exhibits=exhibits,
        tasks=known_names(table.get("tasks", list(PAPER_TASKS)), task_names(), place=place.at("tasks")),
        seeds=distinct(table.get("seeds", [0]), Seed, place=place.at("seeds")),
        text=_text(table, languages=languages, data=data, place=place),
        file_exhibits=exhibits,
        origin=origin,
    )
    _check_held_out(study, place=place)
    names = [condition.name for condition in study.conditions]
    lists = {"targets": study.targets, "conditions": names, "tasks": study.tasks, "seeds": study.seeds}
    only = parse_filters(
        table.get("only", {}), exhibits=dict.fromkeys((*exhibits, ALWAYS_SHOWN)), lists=lists, place=place.at("only")
    )
    return replace(study, only=only)


def with_lists(study: Study, lists: Mapping[str, object], *, before: str = "--") -> Study:
    """The same study with those lists that are not None. Messages name a wrong one with `before` in front: --seeds."""
    for key, values in lists.items():
        if values is not None:
            study = replace(study, **_other_list(study, key, _listed(values), place=FileKey(file=f"{before}{key}")))
    return study


def _other_list(study: Study, key: str, values: object, *, place: FileKey) -> dict[str, Any]:
    match key:
        case "targets":
            return {"languages": (study.languages[0], *known_names(values, study.targets, place=place))}
        case "conditions":
            return {key: _conditions(values, study.conditions, scale=study.scale, place=place)}
        case "tasks":
            return {key: known_names(values, task_names(), place=place)}
        case "exhibits":
            return {key: exhibits_named(values, place=place)}
        case "seeds":
            return {key: distinct(values, Seed, place=place)}
    raise ValueError(f"{key} is no list of a study")


def _listed(values: object) -> object:
    # Whatever else is given is refused by name; a string would come apart into its letters.
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else values


def _check_held_out(study: Study, *, place: FileKey) -> None:
    scale, held_out = study.scale, study.scale.dev_lines + study.scale.test_lines
    if isinstance(study.text, Synthetic) and study.text.sentences <= held_out:
        problem = f"should be above {held_out}, which dev_lines and test_lines of scale {scale.name!r} hold out"
        raise place.at("synthetic.sentences").error(problem)


def check_name(name: str, *, place: FileKey) -> None:
    """Refuse a name that cannot be that of a folder, a prefix of tokens and a key of weights."""
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise place.error(f"{name!r} should be lower-case letters, digits and hyphens, beginning with a letter")
    if name.endswith(PRIME):
        raise place.error(f"{name!r}: names in {PRIME!r} stand for a language's second model; choose another name")
    if name in RESERVED_NAMES:
        raise place.error(f"{name!r} means something in every model; choose another name")


def _conditions(
    values: object, known: Iterable[Condition] = (), *, scale: Scale, place: FileKey
) -> tuple[Condition, ...]:
    # Names as in a file, or of those known beside them; conditions that were made in Python; or both.
    given = values if isinstance(values, list) else []
    own = {each.name: each for each in (*known, *given) if isinstance(each, Condition)}
    names = [getattr(each, "name", each) for each in given] if isinstance(values, list) else values
    conditions: list[Condition] = []
    for name in distinct(names, str, place=place):
        about = ""
        try:
            conditions.append(_well_named(own[name], beside=conditions) if name in own else named_in_file(name))
            about = f"{name!r}: "
            _refuse_twins(conditions, depth=scale.shape.layers)
        except IsoglotError as error:
            raise place.error(f"{about}{error}") from None
    return tuple(conditions)


def _refuse_twins(rows: Sequence[Condition], *, depth: int) -> None:
    # At few layers several of the paper's fall together, and two conditions may be one model.
    models = [row.replace(name="", label="", section="", separate=row.separate.at_depth(depth)) for row in rows]
    if (place := models.index(models[-1])) < len(rows) - 1:
        raise IsoglotError(f"at {depth} layers this is the model of {rows[place].name!r}; leave one of them out")


def _well_named(condition: Condition, *, beside: Iterable[Condition]) -> Condition:
    # Under the name of another row the paper's scores of that row would stand beside it; figures go by labels.
    name, known = condition.name, known_condition(condition.name)
    if name == MONOLINGUAL.name or known not in (None, condition):
        raise IsoglotError(f"{name!r} is the name of another condition; choose another name")
    if any(each.label == condition.label and each.name != name for each in (*TABLE_1, MONOLINGUAL, *beside)):
        raise IsoglotError(f"{name!r} has the label of another condition, {condition.label!r}; choose another label")
    if known is None and not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise IsoglotError(f"{name!r} should be lower-case letters, digits and hyphens, beginning with a letter")
    return condition


def _text(table: Table, *, languages: tuple[str, ...], data: Path, place: FileKey) -> Synthetic | RealText:
    if "synthetic" in table:
        for key in OF_REAL_TEXT:
            if key in table:
                raise place.at(key).error("a study with a [synthetic] table makes up its text; drop one of the two")
        return parse_synthetic(table, languages=languages, place=place.at("synthetic"))
    if "text" not in table:
        raise place.error(
            f"{quoted(languages)} have no text, and each language needs some; write a [text] table that names a file "
            "for each, or, for languages that are made up, a [synthetic] table with sentences = 40000 and a table "
            "[synthetic.languages.NAME] for each"
        )
    return parse_real_text(table, languages=languages, data=data, place=place)
