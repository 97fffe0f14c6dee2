"""Conditions of training: in the columns of Table 1, and in words for someone who has not read the paper."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from isoglot.report.quantities import listed
from isoglot.study.conditions import DEFAULT, Anchors, Condition, Domain, Segmentation
from isoglot.study.exhibit_names import WITHOUT_CONDITIONS
from isoglot.study.scales import Scale, Start
from isoglot.study.separate import ALL_SHARED, PAPER_DEPTH
from isoglot.study.study import Study

# Headings of the rows of Table 1, by section of the paper.
GROUPS = {"4.1": "Domain similarity", "4.2": "Anchor points", "4.3": "Parameter sharing"}
STARTS = {None: "", Start.EQUAL: "; these start as equal copies", Start.INDEPENDENT: "; these start independently"}
OWN_SUBWORDS = "0*: each language has embeddings of its own, so that no subword is in common."
DESCRIPTION = ("Model", "Domain", "BPE merges", "Anchor pts", "Share param.", "Softmax")


def conditions_of(study: Study, exhibit: str) -> tuple[Condition, ...]:
    """The conditions that an exhibit of the study is about; none, if the study does not have it."""
    return study.of_exhibit(exhibit).conditions if exhibit in study.exhibits else ()


def shown_conditions(study: Study) -> tuple[Condition, ...]:
    """The conditions that any exhibit of the study is about."""
    shown = {
        condition
        for exhibit in study.exhibits
        for condition in ((DEFAULT,) if exhibit in WITHOUT_CONDITIONS else conditions_of(study, exhibit))
    }
    return tuple(each for each in dict.fromkeys((*study.conditions, DEFAULT)) if each in shown)


def in_words(condition: Condition, *, scale: Scale) -> str:
    """ "each language has its own embeddings, softmax and layers 1 to 3 of 4"."""
    own = condition.separate.at_depth(scale.shape.layers)
    parts = ["embeddings", "softmax"] if own.embeddings else []
    if own.layers:
        layers = f"layer{'s' if len(own.layers) > 1 else ''} {_joined(own.layers, to=' to ', comma=', ')}"
        parts.append(f"{layers} of {scale.shape.layers}")
    if parts:
        tokens = " but for tokens" if own.embeddings and condition.own_parts_start is Start.EQUAL else ""
        parts += ["bias in the softmax"] if own.output_bias else []
        return f"each language has its own {listed(parts)}{STARTS[condition.own_parts_start]}{tokens}"
    if own.output_bias:
        rest = in_words(replace(condition, separate=ALL_SHARED), scale=scale)
        return f"{rest}, except that each language has its own bias in the softmax"
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


def condition_notes(conditions: Sequence[Condition], *, scale: Scale) -> Iterator[str]:
    """Footnotes to the names and settings of conditions."""
    if any(each.separate.embeddings for each in conditions):
        yield OWN_SUBWORDS
    if (layers := scale.shape.layers) != PAPER_DEPTH:
        yield f"Models are named as in the paper, where they have {PAPER_DEPTH} layers; these have {layers}."
    has_own_parts = any(each.separate.has_starts and each.own_parts_start is None for each in conditions)
    if has_own_parts and scale.own_parts_start is Start.EQUAL:
        others = (
            " where a model's name does not say otherwise" if any(each.own_parts_start for each in conditions) else ""
        )
        yield (
            f"Parts that each language has for itself start as equal copies{others}. Only token tables and biases of "
            "the softmax, which belong to words, are drawn for each."
        )


def _joined(layers: Set[int], *, to: str, comma: str) -> str:
    """ "1 to 3", or "2, 4" where they do not follow each other."""
    first, last = min(layers), max(layers)
    if 1 < len(layers) == last - first + 1:
        return f"{first}{to}{last}"
    return comma.join(map(str, sorted(layers)))


def described(condition: Condition, *, scale: Scale) -> tuple[str, ...]:
    """A condition in the words of Table 1, after its name."""
    separate = condition.separate.at_depth(scale.shape.layers)
    joint = condition.segmentation is Segmentation.JOINT
    own = ["Emb"] if separate.embeddings else []
    own += ["L" + _joined(separate.layers, to="-", comma=",")] if separate.layers else []
    anchors = {Anchors.NATURAL: "all", Anchors.NONE: "0", Anchors.EXTRA: "extra"}[condition.anchors]
    if condition.kept_anchors is not None:
        anchors = f"{100 * condition.kept_anchors.share:g}%"
    merges = scale.merges if joint else scale.merges // 2
    # As the paper writes them: "80k", or "40k/40k" for each language apart.
    written = f"{merges / 1000:g}k" if merges >= 1000 else f"{merges}"
    return (
        "same" if condition.target_domain is Domain.MAIN else "other",
        written if joint else f"{written}/{written}",
        # With embeddings of its own, a language shares no subword, whatever the vocabulary has in common.
        "0*" if separate.embeddings else anchors,
        f"Sep {' + '.join(own)}" if own else "all",
        "own" if separate.embeddings else "own bias" if separate.output_bias else "shared",
    )
