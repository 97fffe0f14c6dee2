"""A study: which languages, conditions, tasks, size, seeds and text make one question."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from isoglot.errors import IsoglotError
from isoglot.study.conditions import MONOLINGUAL, TABLE_1, Condition, known_condition, named_in_file
from isoglot.study.exhibit_names import KEYS as KEYS_OF_FILTERS
from isoglot.study.exhibit_names import Filters, exhibits_named
from isoglot.study.languages import check_name
from isoglot.study.real_text import RealText, task_names
from isoglot.study.scales import Scale, changed_scale
from isoglot.study.synthetic_languages import Synthetic
from isoglot.study.toml_tables import FileKey, Seed, checked, distinct, known_names


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
    only: Filters = field(default_factory=dict)  # for exhibits about a part of the study
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
        keeps = partial(self.keeps, exhibit)
        return replace(
            self,
            languages=(self.languages[0], *filter(partial(keeps, "targets"), self.targets)),
            conditions=tuple(each for each in self.conditions if keeps("conditions", each.name)),
            tasks=tuple(filter(partial(keeps, "tasks"), self.tasks)),
            seeds=tuple(filter(partial(keeps, "seeds"), self.seeds)),
        )

    def keeps(self, exhibit: str, key: str, item: str | int) -> bool:
        """Whether [only.EXHIBIT] leaves this item in the list of this key."""
        return item in self.only.get(exhibit, {}).get(key, (item,))

    @classmethod
    def load(cls, name_or_path: str | Path, *, data: str | Path | None = None) -> "Study":
        """A built-in study by its name, or any other by its TOML file.

        Paths in the file start from `data`, or else from the folder that ISOGLOT_DATA names, or that of the file.

        >>> ig.Study.load("demo").languages
        ('ela', 'oru')
        """
        from isoglot.study.study_file import read_study

        if not isinstance(name_or_path, str | Path):
            raise IsoglotError(f"Study.load: {name_or_path!r} is no name of a study, and no path of its file")
        return read_study(name_or_path, data=data)

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
            check_held_out(study, place=place)
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
        """The exhibits that have something to show: [only] may leave none of the seeds that --seeds names."""
        parts = ((exhibit, self.of_exhibit(exhibit)) for exhibit in self.exhibits)
        return tuple(exhibit for exhibit, part in parts if all(getattr(part, key) for key in KEYS_OF_FILTERS))


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
            return {key: conditions_named(values, study.conditions, scale=study.scale, place=place)}
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


def check_held_out(study: Study, *, place: FileKey) -> None:
    """Refuse made-up text that has no more sentences than are held out of training."""
    scale, held_out = study.scale, study.scale.dev_lines + study.scale.test_lines
    if isinstance(study.text, Synthetic) and study.text.sentences <= held_out:
        problem = f"should be above {held_out}, which dev_lines and test_lines of scale {scale.name!r} hold out"
        raise place.at("synthetic.sentences").error(problem)


def conditions_named(
    values: object, known: Iterable[Condition] = (), *, scale: Scale, place: FileKey
) -> tuple[Condition, ...]:
    """Conditions by their names, in a file or among those known beside them; or as they were made in Python."""
    given = values if isinstance(values, list) else []
    own = {each.name: each for each in (*known, *given) if isinstance(each, Condition)}
    names = [getattr(each, "name", each) for each in given] if isinstance(values, list) else values
    conditions: list[Condition] = []
    for name in distinct(names, str, place=place):
        about = ""
        try:
            conditions.append(_well_named(own[name], beside=conditions) if name in own else named_in_file(name))
            about = f"{name!r}: "
            _refuse_twins(conditions, scale=scale)
        except IsoglotError as error:
            raise place.error(f"{about}{error}") from None
    return tuple(conditions)


def _refuse_twins(rows: Sequence[Condition], *, scale: Scale) -> None:
    # At few layers several of the paper's fall together, and a start may be the one that the scale has anyway.
    depth = scale.shape.layers

    def model(row: Condition) -> Condition:
        start = row.own_parts_start or (scale.own_parts_start if row.separate.has_starts else None)
        return replace(row, name="", label="", section="", separate=row.separate.at_depth(depth), own_parts_start=start)

    # A row that needs a deeper model is refused here, alone as well.
    *others, last = map(model, rows)
    if last in others:
        twin = rows[others.index(last)].name
        raise IsoglotError(f"at scale {scale.name}, with {depth} layers, this is the model of {twin!r}; leave one out")


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
