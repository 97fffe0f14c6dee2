"""Ways to compare scores by layer, from which the claims of sections 5 and 6 are decided."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, GROWTH, MAPPED, OF_PRIME, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims.transfer_rules import by_distance
from isoglot.report.figures.layer_figures import CKA, PAPERS_CORRELATION, RETRIEVAL
from isoglot.report.findings.layer_scores import Panel, pair_title, panels, pearson
from isoglot.report.findings.noise import BySeed, Noise, spread_of
from isoglot.report.findings.samples import CLOSE_CKA, Sample, mean_sample
from isoglot.report.findings.verdicts import Finding, compared, ordered
from isoglot.study.conditions import DEFAULT, MONOLINGUAL
from isoglot.study.languages import PRIME

CLOSE_CORRELATION = 0.02
BILINGUAL, ONE_EACH = "bilingual", "monolingual"


@dataclass(frozen=True, kw_only=True)
class LayerEvidence:
    """The figures of a study, and the noise of its transfer scores."""

    measurements: Sequence[Measurement]
    noise: Noise

    def panels(self, figure: str) -> list[Panel]:
        if figure == FIGURE_7:
            return [replace(panel, close=self.noise_in_cka or CLOSE_CKA) for panel in self._similarities]
        found = panels(self.measurements, figure)
        return [replace(panel, close=self.noise.points(panel.task)) if panel.task else panel for panel in found]

    def remarks(self) -> Iterator[str]:
        """The noise of CKA, and what it rests on; nothing where no claim asks for it."""
        if any(each.exhibit == FIGURE_7 for each in self.measurements):
            known, number = self.noise_in_cka, len(self._repeated_similarities)
            yield (
                f"Noise in CKA is taken to be {CLOSE_CKA}: few models have a second seed, and small ones vary more."
                if known is None
                else f"Noise in CKA is {known:.2g}, by {number} models of several seeds."
            )

    @cached_property
    def noise_in_cka(self) -> float | None:
        """Estimated from the means over layers of all conditions; None where seeds are few."""
        spread = spread_of(self._repeated_similarities, least=CLOSE_CKA)
        return spread and spread.points

    @cached_property
    def _repeated_similarities(self) -> list[BySeed]:
        kinds = [(panel, kind) for panel in self._similarities for kind in panel.scores if kind[::2] == (CKA, None)]
        samples = [panel.sample(fmean, kind) for panel, kind in kinds]
        return [sample.by_seed for sample in samples if sample and len(sample.by_seed) > 1]

    @cached_property
    def _similarities(self) -> list[Panel]:
        """Figure 7, with finished models of further seeds whose CKA stands under growth alone."""
        grown = [each for each in self.measurements if each.exhibit == GROWTH and each.metric == CKA]
        # The best model of a run may come a little before its end, and in each at another update.
        finished: dict[tuple[object, ...], int] = {}
        for each in grown:
            finished[_model(each)] = max(finished.get(_model(each), 0), each.update or 0)
        more = [replace(each, exhibit=FIGURE_7) for each in grown if each.update == finished[_model(each)]]
        return panels([*self.measurements, *more], FIGURE_7)


def _model(each: Measurement) -> tuple[object, ...]:
    return each.condition, each.languages, each.seed


def _third(layers: Sequence[float]) -> int:
    """How many layers a third has: 3 of layers 0 to 8."""
    return max(1, round(len(layers) / 3))


SUMMARIES: dict[str, Callable[[Sequence[float]], float]] = {
    "best": max,
    "mean": fmean,
    "bottom": lambda layers: fmean(layers[: _third(layers)]),
    "middle": lambda layers: fmean(layers[_third(layers) : -_third(layers)]),
    "top": lambda layers: fmean(layers[-_third(layers) :]),
}
"""One number for the layers of a model, from layer 0 up."""


def score(
    panel: Panel, *, metric: str = "", layers: str = "best", models: str = ONE_EACH, variant: str | None = None
) -> Sample | None:
    """One number for each seed, by default of the task's metric; None where no seed has all layers."""
    if not metric and panel.task:
        metric = task_named(panel.task).metric
    # The bilingual model of a language and its own double has separate embeddings (section 5.2).
    bilingual = OF_PRIME if panel.languages[1].endswith(PRIME) else DEFAULT
    condition = bilingual if models == BILINGUAL else MONOLINGUAL
    return panel.sample(SUMMARIES[layers], (metric, condition.name, variant))


def in_order(
    layers: LayerEvidence, figure: str, chains: Sequence[Sequence[Mapping[str, str]]], but: Sequence[str] = ()
) -> Iterator[Finding]:
    """Each score of a chain above the next, for each pair and task but one. A score is a label and terms of `score`."""
    number = ".2f" if figure == FIGURE_7 else ".1f"

    def labelled(panel: Panel, *, label: str, **terms: str) -> tuple[str, Sample | None]:
        return f"{label}{_floor(panel, **terms)}", score(panel, **terms)

    for panel in layers.panels(figure):
        for chain in chains if [panel.task, *panel.languages] != but else ():
            sides = [labelled(panel, **terms) for terms in chain]
            yield from ordered(panel.title, *sides, number=number)


def _floor(panel: Panel, *, metric: str = "", models: str = ONE_EACH, **terms: str) -> str:
    """CKA of the bilingual model untrained, for people: languages that share random layers are alike already."""
    if metric != CKA or models != BILINGUAL:
        return ""
    floor = score(panel, metric=metric, models=models, variant=UNTRAINED, **terms)
    return f" (untrained {floor.mean:.2f})" if floor else ""


def sentences_above_untrained(layers: LayerEvidence) -> Iterator[Finding]:
    """The best layer of both; against chance where no untrained model was mapped."""
    for panel in layers.panels(FIGURE_6):
        ours, untrained = score(panel, metric=RETRIEVAL), score(panel, metric=RETRIEVAL, variant=UNTRAINED)
        chance = score(panel, metric=f"{RETRIEVAL}_chance")
        floor = ("untrained", untrained) if untrained else ("chance", chance)
        yield from ordered(panel.title, ("trained", ours), floor)


def half_of_bilingual(layers: LayerEvidence) -> Iterator[Finding]:
    """At least half of it, and above an untrained model of the target that is mapped as well."""
    for panel in layers.panels(FIGURE_5):
        mapped, both = score(panel, variant=MAPPED), score(panel, models=BILINGUAL)
        if mapped and both:
            untrained = score(panel, variant=UNTRAINED)
            kept = mapped.mean / both.mean if both.mean else 0.0
            floor = f" (untrained {untrained.mean:.1f})" if untrained else ""
            numbers = f"mapped monolingual {mapped.mean:.1f}{floor} is {kept:.0%} of bilingual {both.mean:.1f}"
            bound = max(both * 0.5, untrained or Sample.certain(0.0), key=lambda each: each.mean)
            yield compared(mapped, bound, numbers=f"{panel.title}: {numbers}")


def gap_larger_in_ner(layers: LayerEvidence) -> Iterator[Finding]:
    gaps: dict[tuple[str, str], dict[str | None, Sample]] = {}
    for panel in layers.panels(FIGURE_5):
        mapped, both = score(panel, variant=MAPPED), score(panel, models=BILINGUAL)
        if mapped and both:
            gaps.setdefault(panel.languages, {})[panel.task] = both - mapped
    for pair, by_task in gaps.items():
        where = f"{pair_title(pair)}, bilingual less mapped"
        sides = ("NER", by_task.get("ner")), ("parsing", by_task.get("parsing"))
        yield from ordered(where, *sides)


def map_of_bilingual_helps_parsing_only(layers: LayerEvidence) -> Iterator[Finding]:
    for panel in layers.panels(FIGURE_8):
        mapped, plain = score(panel, models=BILINGUAL, variant=MAPPED), score(panel, models=BILINGUAL)
        both = ("mapped", mapped), ("as it is", plain)
        if panel.task in ("ner", "parsing"):
            sides = both if panel.task == "parsing" else both[::-1]
            yield from ordered(panel.title, *sides)


def alike_at_the_bottom(layers: LayerEvidence) -> Iterator[Finding]:
    for panel in layers.panels(FIGURE_7):
        for kind in (BILINGUAL, ONE_EACH):
            low, high = (score(panel, metric=CKA, models=kind, layers=layers) for layers in ("bottom", "top"))
            sides = ("bottom third", low), ("top third", high)
            yield from ordered(f"{panel.title} {kind}", *sides, number=".2f")


def falling_with_distance(layers: LayerEvidence, of: Sequence[str], less: str = "") -> Iterator[Finding]:
    """CKA of models, or how far it lies above that of others, falls from each distance to the next."""
    for models in of:
        found, titles = {}, {}
        for panel in layers.panels(FIGURE_7):
            ours = score(panel, metric=CKA, models=models, layers="mean")
            others = score(panel, metric=CKA, models=less, layers="mean") if less else Sample.certain(0.0)
            if ours and others:
                found[panel.languages] = ours - others
                floor = "" if less else _floor(panel, metric=CKA, models=models, layers="mean")
                titles[panel.languages] = f"{pair_title(panel.languages)}{floor}"
        where, number = (f"{models} less {less}", "+.3f") if less else (models, ".2f")
        for source in dict.fromkeys(source for source, _ in found):
            groups = by_distance(source, (target for of_source, target in found if of_source == source))
            pairs = [[(source, target) for target in targets] for targets in groups]
            sides = [
                (
                    name := ", ".join(titles[pair] for pair in alike),
                    replace(mean_sample([found[pair] for pair in alike]), of_language=name),
                )
                for alike in pairs
            ]
            yield from ordered(where, *sides, number=number)


def similarity_goes_with_retrieval(layers: LayerEvidence) -> Iterator[Finding]:
    """Over the layers of models of one language each, seed by seed."""
    of_figure_6 = {panel.languages: panel for panel in layers.panels(FIGURE_6)}
    for panel in layers.panels(FIGURE_7):
        cka, other = panel.layers((CKA, MONOLINGUAL.name, None)), of_figure_6.get(panel.languages)
        retrieval = other.layers((RETRIEVAL, MONOLINGUAL.name, None)) if other else {}
        correlations = {seed: pearson(cka[seed], retrieval[seed]) for seed in cka if seed in retrieval}
        found = {seed: each for seed, each in correlations.items() if each is not None}
        if found:
            ours, bound = Sample.of(found, close=CLOSE_CORRELATION), Sample.certain(PAPERS_CORRELATION)
            # The paper's is a bound, and a correlation has no noise that is known beforehand: it gives no margin.
            yield replace(compared(ours, bound, numbers=f"{panel.title}: {ours.mean:.2f}"), margins=())
