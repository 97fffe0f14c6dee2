"""Ways to compare scores by layer, from which the claims of sections 5 and 6 are decided."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import MAPPED, UNTRAINED
from isoglot.pipeline.figures import FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, OF_PRIME
from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims.evidence import Finding, by_distance, compared, ordered
from isoglot.report.figures.layer_series import pair_title, pearson
from isoglot.report.figures.sentence_figures import CKA, PAPERS_CORRELATION, RETRIEVAL
from isoglot.report.layer_scores import Kind, Panel, Summary, panels
from isoglot.report.verdicts import CLOSE_CKA, Sample, mean_sample
from isoglot.study.conditions import DEFAULT, MONOLINGUAL
from isoglot.study.languages import PRIME

MAPPED_LABEL = "mapped monolingual"
AS_GOOD = ("parsing", "en", "fr")
"""The task and pair in which the paper has monolingual models no worse than a bilingual one."""
CLOSE_CORRELATION = 0.02
BILINGUAL, ONE_EACH, RANDOM = "bilingual", "monolingual", "random"
Measurements = Sequence[Measurement]


def monolingual(metric: str, variant: str | None = None) -> Kind:
    return metric, MONOLINGUAL.name, variant


# Summaries of the layers of one model, from layer 0 up. A third of 0 to 8 is three layers.
def bottom(layers: Sequence[float]) -> float:
    return fmean(layers[: _third(layers)])


def middle(layers: Sequence[float]) -> float:
    return fmean(layers[_third(layers) : -_third(layers)])


def top(layers: Sequence[float]) -> float:
    return fmean(layers[-_third(layers) :])


def _third(layers: Sequence[float]) -> int:
    return max(1, round(len(layers) / 3))


def embeddings_above_fasttext(measurements: Measurements) -> Iterator[Finding]:
    for panel in panels(measurements, FIGURE_4):
        ours = panel.sample(max, monolingual("embedding_p1"))
        fasttext = panel.sample(max, monolingual("fasttext_of_embedding_words_p1"))
        yield from ordered(panel.title, ("embeddings", ours), ("fastText", fasttext))


def contextual_words_below_fasttext(measurements: Measurements) -> Iterator[Finding]:
    for panel in panels(measurements, FIGURE_4):
        ours = panel.sample(max, monolingual("contextual_p1"))
        fasttext = panel.sample(max, monolingual("fasttext_of_contextual_words_p1"))
        yield from ordered(panel.title, ("fastText", fasttext), ("the best layer", ours))


def words_better_at_the_top(measurements: Measurements) -> Iterator[Finding]:
    for panel in panels(measurements, FIGURE_4):
        high, low = (panel.sample(third, monolingual("contextual_p1")) for third in (top, bottom))
        yield from ordered(panel.title, ("top third of layers", high), ("bottom third", low))


def sentences_better_at_the_bottom(measurements: Measurements) -> Iterator[Finding]:
    for panel in panels(measurements, FIGURE_6):
        low, high = (panel.sample(third, monolingual(RETRIEVAL)) for third in (bottom, top))
        yield from ordered(panel.title, ("bottom third of layers", low), ("top third", high))


def sentences_above_untrained(measurements: Measurements) -> Iterator[Finding]:
    """The best layer of both; against chance where no untrained model was mapped."""
    for panel in panels(measurements, FIGURE_6):
        untrained = panel.sample(max, monolingual(RETRIEVAL, UNTRAINED))
        chance = panel.sample(max, monolingual(f"{RETRIEVAL}_chance"))
        floor = ("untrained", untrained) if untrained else ("chance", chance)
        yield from ordered(panel.title, ("trained", panel.sample(max, monolingual(RETRIEVAL))), floor)


def bilingual_above_mapped(measurements: Measurements) -> Iterator[Finding]:
    """The best layer of each, but where the paper has them equal."""
    for panel in _of_tasks(measurements, FIGURE_5):
        if (panel.task, *panel.languages) != AS_GOOD:
            mapped, bilingual = _best_of_both(panel)
            yield from ordered(panel.title, (BILINGUAL, bilingual), (MAPPED_LABEL, mapped))


def half_of_bilingual(measurements: Measurements) -> Iterator[Finding]:
    for panel in _of_tasks(measurements, FIGURE_5):
        mapped, bilingual = _best_of_both(panel)
        if mapped and bilingual:
            kept = mapped.mean / bilingual.mean if bilingual.mean else 0.0
            numbers = f"{MAPPED_LABEL} {mapped.mean:.1f} is {kept:.0%} of {BILINGUAL} {bilingual.mean:.1f}"
            yield compared(mapped, bilingual * 0.5, numbers=f"{panel.title}: {numbers}")


def middle_best(measurements: Measurements) -> Iterator[Finding]:
    for panel in _of_tasks(measurements, FIGURE_5):
        thirds = [panel.sample(third, _in_task(panel, MONOLINGUAL.name, MAPPED)) for third in (middle, top, bottom)]
        for label, third in zip(("top third", "bottom third"), thirds[1:], strict=True):
            yield from ordered(panel.title, ("middle third of layers", thirds[0]), (label, third))


def gap_larger_in_ner(measurements: Measurements) -> Iterator[Finding]:
    gaps: dict[tuple[str, str], dict[str, Sample]] = {}
    for panel in _of_tasks(measurements, FIGURE_5):
        mapped, bilingual = _best_of_both(panel)
        if mapped and bilingual and panel.task:
            gaps.setdefault(panel.languages, {})[panel.task] = bilingual - mapped
    for pair, by_task in gaps.items():
        where = f"{pair_title(pair)}, {BILINGUAL} less mapped"
        yield from ordered(where, ("NER", by_task.get("ner")), ("parsing", by_task.get("parsing")))


def map_of_bilingual_helps_parsing_only(measurements: Measurements) -> Iterator[Finding]:
    for panel in _of_tasks(measurements, FIGURE_8):
        mapped, plain = (panel.sample(max, _in_task(panel, DEFAULT.name, kind)) for kind in (MAPPED, None))
        both = ("mapped", mapped), ("as it is", plain)
        if panel.task in ("ner", "parsing"):
            yield from ordered(panel.title, *(both if panel.task == "parsing" else both[::-1]))


def _of_tasks(measurements: Measurements, exhibit: str) -> list[Panel]:
    return [panel for panel in panels(measurements, exhibit) if panel.task]


def _in_task(panel: Panel, condition: str, variant: str | None) -> Kind:
    return task_named(panel.task or "").metric, condition, variant


def _best_of_both(panel: Panel) -> tuple[Sample | None, Sample | None]:
    """The best layers of mapped models of one language each, and of the model of both."""
    mapped, bilingual = _in_task(panel, MONOLINGUAL.name, MAPPED), _in_task(panel, DEFAULT.name, None)
    return panel.sample(max, mapped), panel.sample(max, bilingual)


def bilingual_above_monolingual_above_random(measurements: Measurements) -> Iterator[Finding]:
    for panel in panels(measurements, FIGURE_7):
        labelled = [(kind, _cka(panel, kind)) for kind in (BILINGUAL, ONE_EACH, RANDOM)]
        yield from ordered(panel.title, *labelled, close=CLOSE_CKA, number=".2f")


def alike_at_the_bottom(measurements: Measurements) -> Iterator[Finding]:
    for panel in panels(measurements, FIGURE_7):
        for kind in (BILINGUAL, ONE_EACH):
            thirds = ("bottom third", _cka(panel, kind, bottom)), ("top third", _cka(panel, kind, top))
            yield from ordered(f"{panel.title} {kind}", *thirds, close=CLOSE_CKA, number=".2f")


def gap_shrinks_with_distance(measurements: Measurements) -> Iterator[Finding]:
    """The similarity that a model of both languages adds to that of models of one each."""
    gaps = {
        panel.languages: both - each
        for panel in panels(measurements, FIGURE_7)
        if (both := _cka(panel, BILINGUAL)) and (each := _cka(panel, ONE_EACH))
    }
    yield from _falling_with_distance("bilingual less monolingual", gaps, number="+.3f")


def closer_languages_more_alike(measurements: Measurements) -> Iterator[Finding]:
    for kind in (BILINGUAL, ONE_EACH):
        means = {panel.languages: mean for panel in panels(measurements, FIGURE_7) if (mean := _cka(panel, kind))}
        yield from _falling_with_distance(kind, means, number=".2f")


def similarity_goes_with_retrieval(measurements: Measurements) -> Iterator[Finding]:
    """Over the layers of models of one language each, seed by seed."""
    retrieval = {panel.languages: panel.layers(monolingual(RETRIEVAL)) for panel in panels(measurements, FIGURE_6)}
    for panel in panels(measurements, FIGURE_7):
        of_pair = retrieval.get(panel.languages, {})
        found = {
            seed: value
            for seed, layers in panel.layers(monolingual(CKA)).items()
            if seed in of_pair and (value := pearson(layers, of_pair[seed])) is not None
        }
        if found:
            ours, bound = Sample.of(found), Sample.certain(PAPERS_CORRELATION)
            # The paper's is a bound, and a correlation has no noise that is known beforehand.
            yield compared(ours, bound, close=CLOSE_CORRELATION, numbers=f"{panel.title}: {ours.mean:.2f}")


def _cka(panel: Panel, kind: str, summary: Summary = fmean) -> Sample | None:
    """The bilingual model of a language and its own double has separate embeddings (section 5.2)."""
    if kind != BILINGUAL:
        return panel.sample(summary, monolingual(CKA, UNTRAINED if kind == RANDOM else None))
    condition = OF_PRIME if panel.languages[1].endswith(PRIME) else DEFAULT
    return panel.sample(summary, (CKA, condition.name, None))


def _falling_with_distance(where: str, scores: Mapping[tuple[str, str], Sample], *, number: str) -> Iterator[Finding]:
    """The mean of the pairs at one distance against those at the next."""
    for source in dict.fromkeys(source for source, _ in scores):
        labelled = []
        for targets in by_distance(source, (target for of, target in scores if of == source)):
            pairs = [(source, target) for target in targets]
            labelled.append((", ".join(map(pair_title, pairs)), mean_sample([scores[pair] for pair in pairs])))
        yield from ordered(where, *labelled, close=CLOSE_CKA, number=number)
