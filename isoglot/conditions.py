"""The conditions under which bilingual models are pretrained: one object for each row of the paper's Table 1."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import ceil

from isoglot.errors import IsoglotError

PAPER_DEPTH = 8


class Domain(StrEnum):
    """Where the target language's text comes from; the source language's is always the main domain (section 4.1)."""

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


class TableKind(StrEnum):
    """How subwords become ids: one table built jointly, by union or with language prefixes, or a table for each."""

    JOINT = "joint"
    UNION = "union"
    PREFIXED = "prefixed"
    SEPARATE = "separate"


@dataclass(frozen=True, kw_only=True)
class Separate:
    """What each language owns alone: embeddings (with positions and softmax), and layers, from 1 at the bottom."""

    embeddings: bool = False
    layers: frozenset[int] = field(default=frozenset())

    def at_depth(self, depth: int) -> "Separate":
        """The same separation in a model of another depth.

        Layer i of a model takes the part of the paper's layer that holds its middle, so 3 and 6 of 8 become 2 and 3 of
        4, or 5 and 9 of 12. The paper always shares the top, so a model too shallow to tell is refused.
        """
        # Departure: the paper trains 8 layers only; this rule is ours.
        layers = frozenset(i for i in range(1, depth + 1) if ceil((i - 0.5) * PAPER_DEPTH / depth) in self.layers)
        top_is_lost = depth in layers and PAPER_DEPTH not in self.layers
        if top_is_lost or (self.layers and not layers):
            raise IsoglotError(
                f"a model of {depth} layers is too shallow to separate the paper's layers "
                f"{sorted(self.layers)} of {PAPER_DEPTH} and still share its top; take at least 3 layers"
            )
        return replace(self, layers=layers)


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One row of Table 1."""

    name: str
    label: str
    section: str
    target_domain: Domain = Domain.MAIN
    segmentation: Segmentation = Segmentation.JOINT
    anchors: Anchors = Anchors.NATURAL
    separate: Separate = Separate()

    def __post_init__(self) -> None:
        if self.segmentation is Segmentation.JOINT and (self.separate.embeddings or self.anchors is Anchors.NONE):
            raise IsoglotError(
                f"condition {self.name!r}: without shared subwords the BPE must be learned for each language"
            )
        if self.anchors is Anchors.EXTRA and self.separate.embeddings:
            raise IsoglotError(f"condition {self.name!r}: extra anchors need embeddings that the languages share")

    @property
    def tables(self) -> TableKind:
        """Own embeddings mean own tables, hence own softmax and random words from within the language (section 4.3)."""
        if self.separate.embeddings:
            return TableKind.SEPARATE
        if self.segmentation is Segmentation.JOINT:
            return TableKind.JOINT
        return TableKind.PREFIXED if self.anchors is Anchors.NONE else TableKind.UNION


DEFAULT = Condition(name="default", label="Default", section="4")
UNION_VOCABULARY = replace(DEFAULT, section="4.2", segmentation=Segmentation.EACH)
SEPARATED = replace(UNION_VOCABULARY, section="4.3")
BOTTOM_3 = frozenset(range(1, 4))
BOTTOM_6 = frozenset(range(1, 7))

TABLE_1 = (
    DEFAULT,
    replace(DEFAULT, name="wiki-cc", label="Wiki-CC", section="4.1", target_domain=Domain.OTHER),
    replace(UNION_VOCABULARY, name="no-anchors", label="No anchors", anchors=Anchors.NONE),
    replace(UNION_VOCABULARY, name="default-anchors", label="Default anchors"),
    replace(DEFAULT, name="extra-anchors", label="Extra anchors", section="4.2", anchors=Anchors.EXTRA),
    replace(SEPARATED, name="sep-emb", label="Sep Emb", separate=Separate(embeddings=True)),
    replace(SEPARATED, name="sep-l1-3", label="Sep L1-3", separate=Separate(layers=BOTTOM_3)),
    replace(SEPARATED, name="sep-l1-6", label="Sep L1-6", separate=Separate(layers=BOTTOM_6)),
    replace(
        SEPARATED, name="sep-emb-l1-3", label="Sep Emb + L1-3", separate=Separate(embeddings=True, layers=BOTTOM_3)
    ),
    replace(
        SEPARATED, name="sep-emb-l1-6", label="Sep Emb + L1-6", separate=Separate(embeddings=True, layers=BOTTOM_6)
    ),
)

CONDITIONS = {condition.name: condition for condition in TABLE_1}
