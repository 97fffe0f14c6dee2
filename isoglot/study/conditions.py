"""The conditions under which bilingual models are pretrained: one object for each row of the paper's Table 1.

>>> [each.name for each in ig.conditions.TABLE_1][:3]
['default', 'wiki-cc', 'no-anchors']
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypedDict, Unpack

from isoglot.errors import IsoglotError, suggestion
from isoglot.study.scales import Start
from isoglot.study.separate import ALL_SHARED, Separate
from isoglot.study.toml_tables import FileKey, check_keys, quoted


class Domain(StrEnum):
    """Domain of the target language's text; the source language's is always the main domain (section 4.1)."""

    MAIN = "main"
    OTHER = "other"


class Segmentation(StrEnum):
    """One BPE learned on all languages together, or one for each language (section 4.2)."""

    JOINT = "joint"
    EACH = "each"


class Anchors(StrEnum):
    """Which strings the languages have in common (section 4.2)."""

    NATURAL = "natural"
    NONE = "none"
    EXTRA = "extra"


class AnchorOrder(StrEnum):
    """Which of the types that languages share are kept as anchors first."""

    FREQUENT = "frequent"
    RANDOM = "random"


@dataclass(frozen=True, kw_only=True)
class KeptAnchors:
    """Only this share of the types that languages have in common stays in common: between No and Default anchors."""

    share: float
    order: AnchorOrder
    seed: int = 0  # seed of a random order

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise IsoglotError(f"the share of anchors to keep cannot be {self.share}; give one above 0 and at most 1")


class TableKind(StrEnum):
    """How subwords become ids: one table (joint, by union, or with prefixes for all or some types) or one for each."""

    JOINT = "joint"
    UNION = "union"
    PREFIXED = "prefixed"
    PARTIAL = "partial"
    SEPARATE = "separate"


class ConditionChanges(TypedDict, total=False):
    """Fields of a condition, for `Condition.replace`."""

    name: str
    label: str
    section: str
    target_domain: Domain
    segmentation: Segmentation
    anchors: Anchors
    kept_anchors: KeptAnchors | None
    separate: Separate
    own_parts_start: Start | None


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One row of Table 1, or one of your own: what two languages of a model share.

    It is best made from the row it differs from. `name` is for commands and files, `label` for tables and figures.

    >>> ig.conditions.CONDITIONS["sep-emb"].separate
    Separate(embeddings=True, layers=frozenset(), output_bias=False)
    """

    name: str
    label: str
    section: str
    target_domain: Domain = Domain.MAIN
    segmentation: Segmentation = Segmentation.JOINT
    anchors: Anchors = Anchors.NATURAL
    kept_anchors: KeptAnchors | None = None  # all that are natural, if not given
    separate: Separate = ALL_SHARED
    own_parts_start: Start | None = None  # as the study says, if not given

    def __post_init__(self) -> None:
        is_joint, is_shared = self.segmentation is Segmentation.JOINT, not self.separate.embeddings
        problem = ""
        if is_joint and (not is_shared or self.anchors is Anchors.NONE):
            problem = "without shared subwords the BPE must be learned for each language"
        elif self.anchors is Anchors.EXTRA and not is_shared:
            problem = "extra anchors need embeddings that the languages share"
        elif self.kept_anchors and (is_joint or not is_shared or self.anchors is not Anchors.NATURAL):
            problem = (
                "only natural anchors can be kept in part, with BPE learned for each language and embeddings that the "
                "languages share"
            )
        elif self.own_parts_start and not self.separate.has_starts:
            problem = "no part belongs to a language alone, so none can have a start of its own"
        if problem:
            raise IsoglotError(f"condition {self.name!r}: {problem}")

    def replace(self, **changes: Unpack[ConditionChanges]) -> "Condition":
        """The same condition with other settings.

        >>> mine = ig.conditions.DEFAULT.replace(name="sep-l4", label="Sep L4", separate=ig.Separate(layers={4}))
        >>> mine.label
        'Sep L4'
        """
        known = [each.name for each in fields(self)]
        check_keys(changes, known, place=FileKey(file="Condition.replace"))
        values = {name: getattr(self, name) for name in known} | {**changes}
        return read_condition(values, where="Condition.replace")

    @property
    def tables(self) -> TableKind:
        """Own embeddings mean own tables, hence own softmax and random words from within the language (section 4.3)."""
        if self.separate.embeddings:
            return TableKind.SEPARATE
        if self.segmentation is Segmentation.JOINT:
            return TableKind.JOINT
        if self.kept_anchors is not None:
            return TableKind.PARTIAL
        return TableKind.PREFIXED if self.anchors is Anchors.NONE else TableKind.UNION


DEFAULT = Condition(name="default", label="Default", section="4")
UNION_VOCABULARY = replace(DEFAULT, section="4.2", segmentation=Segmentation.EACH)
SEPARATED = replace(UNION_VOCABULARY, section="4.3")
L1_3 = frozenset(range(1, 4))
L1_6 = frozenset(range(1, 7))

TABLE_1 = (
    DEFAULT,
    replace(DEFAULT, name="wiki-cc", label="Wiki-CC", section="4.1", target_domain=Domain.OTHER),
    replace(UNION_VOCABULARY, name="no-anchors", label="No anchors", anchors=Anchors.NONE),
    replace(UNION_VOCABULARY, name="default-anchors", label="Default anchors"),
    replace(DEFAULT, name="extra-anchors", label="Extra anchors", section="4.2", anchors=Anchors.EXTRA),
    replace(SEPARATED, name="sep-emb", label="Sep Emb", separate=Separate(embeddings=True)),
    replace(SEPARATED, name="sep-l1-3", label="Sep L1-3", separate=Separate(layers=L1_3)),
    replace(SEPARATED, name="sep-l1-6", label="Sep L1-6", separate=Separate(layers=L1_6)),
    replace(SEPARATED, name="sep-emb-l1-3", label="Sep Emb + L1-3", separate=Separate(embeddings=True, layers=L1_3)),
    replace(SEPARATED, name="sep-emb-l1-6", label="Sep Emb + L1-6", separate=Separate(embeddings=True, layers=L1_6)),
)

# Models of one language each, to compare with those of two: no row of Table 1, and no condition of a study.
MONOLINGUAL = Condition(name="monolingual", label="Monolingual", section="5.1", segmentation=Segmentation.EACH)

CONDITIONS = {condition.name: condition for condition in TABLE_1}
OWN_BIAS = "-own-bias"


def known_condition(name: str, *, among: Iterable[Condition] = ()) -> Condition | None:
    """The condition of a name; None where there is none.

    It is one of those given, a row of Table 1, "anchors-25": the 25% most frequent anchors ("-random": any 25%), or
    "sep-emb-equal": a row whose own parts start equal whatever the study says. "-own-bias" after any of these gives
    each language a bias of its own in the shared softmax.
    """
    named = CONDITIONS | {condition.name: condition for condition in among}
    if name in named:
        return named[name]
    shared = known_condition(name.removesuffix(OWN_BIAS), among=among) if name.endswith(OWN_BIAS) else None
    if shared is not None and not shared.separate.output_bias:
        if shared.separate.embeddings:
            raise IsoglotError(
                f"{name!r}: under {shared.name!r} a language has a softmax of its own, so biases too: leave out "
                f"{OWN_BIAS!r}"
            )
        own = replace(shared.separate, output_bias=True)
        return replace(shared, name=name, label=f"{shared.label}, own bias", separate=own)
    base, _, start = name.rpartition("-")
    if base in CONDITIONS and start in {*Start} and (row := CONDITIONS[base]).separate.has_starts:
        return replace(row, name=name, label=f"{row.label}, {start} starts", own_parts_start=Start(start))
    # Without useless zeros, so that one condition has one name.
    parts = re.fullmatch(r"anchors-((?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?)(-random)?", name)
    if parts is None:
        return None
    percent, order = Decimal(parts[1]), AnchorOrder.RANDOM if parts[2] else AnchorOrder.FREQUENT
    if not 0 < percent < 100:
        raise IsoglotError(
            f"{name!r}: the percentage of anchors to keep is above 0 and below 100; "
            "'no-anchors' keeps none and 'default-anchors' all"
        )
    return replace(
        UNION_VOCABULARY,
        name=name,
        label=f"Anchors {percent:f}%{' random' if parts[2] else ''}",
        kept_anchors=KeptAnchors(share=float(percent / 100), order=order),
    )


def named_in_file(name: str) -> Condition:
    """The condition of this name, or an error with the names there are."""
    if (condition := known_condition(name)) is not None:
        return condition
    known = [
        *(*CONDITIONS, "anchors-25", "anchors-25-random"),
        *("sep-emb-equal", "sep-emb-independent", f"no-anchors{OWN_BIAS}"),
    ]
    other = f"{quoted(known)} (or another percentage than 25){suggestion(name, known)}"
    raise IsoglotError(f"{name!r} is not one of {other}")


_IN_USE: ContextVar[tuple[Condition, ...]] = ContextVar("conditions_in_use", default=())


@contextmanager
def conditions_in_use(conditions: Iterable[Condition]) -> Iterator[None]:
    """Inside the block `shown_condition` and `label_of` know these as well, so that a report has all their labels."""
    token = _IN_USE.set(tuple(conditions))
    try:
        yield
    finally:
        _IN_USE.reset(token)


def shown_condition(name: str, *, among: Iterable[Condition] = ()) -> Condition | None:
    """Like `known_condition`, which also finds the conditions of the report being written."""
    return known_condition(name, among=(*_IN_USE.get(), *among))


def condition_named(name: str, *, among: Iterable[Condition] = ()) -> Condition:
    """The same; for an unknown name Default, under that name."""
    return shown_condition(name, among=among) or replace(DEFAULT, name=name, label=name, section="")


def label_of(name: str) -> str:
    """The label for people."""
    return condition_named(name, among=(MONOLINGUAL,)).label


def written(condition: Condition) -> str | dict[str, Any]:
    """For files of a report: the name where that says all, as in Table 1, or else every setting."""
    if known_condition(condition.name) == condition:
        return condition.name
    from pydantic import TypeAdapter

    return TypeAdapter(Condition).dump_python(condition, mode="json")  # type: ignore[no-any-return]


def read_condition(value: object, *, where: str = "no condition") -> Condition:
    """The condition that `written` wrote."""
    if isinstance(value, str):
        return named_in_file(value)
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(Condition).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        raise IsoglotError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
