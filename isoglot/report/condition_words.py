"""What a condition does to a model, in words for someone who has not read the paper."""

from isoglot.study.conditions import Anchors, Condition, Domain, Segmentation
from isoglot.study.scales import Scale

GROUPS = {"4.1": "Domain similarity", "4.2": "Anchor points", "4.3": "Parameter sharing"}
"""Of the rows of Table 1, by section of the paper."""


def in_words(condition: Condition, *, scale: Scale) -> str:
    """ "each language has its own embeddings, softmax and layers 1 to 3 of 4"."""
    own = condition.separate.at_depth(scale.shape.layers)
    parts = ["embeddings", "softmax"] if own.embeddings else []
    parts += [_layers(own.layers, of=scale.shape.layers)] if own.layers else []
    if parts:
        return f"each language has its own {' and '.join([', '.join(parts[:-1]), parts[-1]] if parts[1:] else parts)}"
    if condition.target_domain is Domain.OTHER:
        return "all is shared, but the second language's text is of another kind"
    if condition.kept_anchors is not None:
        return f"all layers are shared, but only {100 * condition.kept_anchors.share:g}% of the common subwords"
    match condition.anchors:
        case Anchors.NONE:
            return "all layers are shared, but not one subword"
        case Anchors.EXTRA:
            return "all is shared, and some words are swapped for their translations"
        case Anchors.NATURAL if condition.segmentation is Segmentation.EACH:
            return "all is shared; subwords are learned for each language apart"
    return "all is shared: vocabulary, embeddings, layers, softmax"


def _layers(layers: frozenset[int], *, of: int) -> str:
    first, last = min(layers), max(layers)
    if last == first:
        return f"layer {first} of {of}"
    if layers == frozenset(range(first, last + 1)):
        return f"layers {first} to {last} of {of}"
    return f"layers {', '.join(map(str, sorted(layers)))} of {of}"
