"""Which parts of a model each language owns alone, at any depth of the model (section 4.3)."""

from collections.abc import Collection, Set
from dataclasses import dataclass, field, replace
from math import ceil

from isoglot.errors import IsoglotError

PAPER_DEPTH = 8


@dataclass(frozen=True, kw_only=True)
class Separate:
    """Parts that each language owns alone: embeddings (with positions and softmax), and layers, 1 at the bottom.

    Layers are those of the paper's model, which has 8. Models of another depth separate the layers at that height. A
    softmax that is shared may have a bias for each language (`output_bias`). A language then learns which words never
    are its answer, and its hidden states need not tell which language they are of.

    >>> ig.Separate(layers={4}).at_depth(4)
    Separate(embeddings=False, layers=frozenset({2}), output_bias=False)
    """

    embeddings: bool = False
    layers: Set[int] = frozenset()
    # The store's NOT_IDENTITY_AT_DEFAULT, written out since this room knows no store.
    output_bias: bool = field(default=False, metadata={"isoglot.identity": "unless default"})

    def __post_init__(self) -> None:
        if not isinstance(self.layers, Collection):
            raise IsoglotError(f"layers: is {self.layers!r}; give a set of numbers, as in {{1, 2, 3}}")
        # A set has no hash, and conditions are keys of dictionaries.
        object.__setattr__(self, "layers", frozenset(self.layers))
        if self.embeddings and self.output_bias:
            raise IsoglotError(
                "with embeddings of its own a language has a softmax and a bias of its own: leave out output_bias"
            )

    @property
    def has_own_bias(self) -> bool:
        """Whether each language has a bias in the softmax, be that one shared or its own."""
        return self.embeddings or self.output_bias

    @property
    def has_starts(self) -> bool:
        """Whether parts of two languages may start equal or apart; biases in a shared softmax always start equal."""
        return self.embeddings or bool(self.layers)

    def at_depth(self, depth: int) -> "Separate":
        """The same separation in a model of another depth."""
        if unknown := self.layers - {*range(1, PAPER_DEPTH + 1)}:
            raise IsoglotError(f"no layers {sorted(unknown)}: at any depth name the paper's layers, 1 to {PAPER_DEPTH}")
        layers = self._layers_at(depth)
        if layers is None:
            # The paper's own depth always works.
            least = next(deeper for deeper in range(depth + 1, PAPER_DEPTH + 1) if self._layers_at(deeper) is not None)
            raise IsoglotError(
                f"a model of {depth} layers is too shallow to separate the paper's layers "
                f"{sorted(self.layers)} of {PAPER_DEPTH} and still share its top; take at least {least} layers"
            )
        return replace(self, layers=layers)

    def _layers_at(self, depth: int) -> frozenset[int] | None:
        # Layer i of a model takes the part of the paper's layer that holds its middle, so 3 and 6 of 8 become 2 and 3
        # of 4, or 5 and 9 of 12. The paper always shares the top, so a model too shallow for that is refused.
        # Departure: the paper trains 8 layers only; this rule is ours.
        layers = frozenset(i for i in range(1, depth + 1) if ceil((i - 0.5) * PAPER_DEPTH / depth) in self.layers)
        # No middle may lie in the paper's layers, as in its 4th alone where there are 4: then those that hold theirs.
        layers = layers or frozenset(ceil((i - 0.5) * depth / PAPER_DEPTH) for i in self.layers)
        return None if depth in layers and PAPER_DEPTH not in self.layers else layers


ALL_SHARED = Separate()
