"""The paper's figures of scores by layer: words (4), tasks (5 and 8), and sentences (6 and 7)."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import EMERGENCE, FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, MAPPED, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.pipeline.stages.readers import SENTENCES_CUT
from isoglot.report.figures.line_charts import LineChart, LineFigure
from isoglot.report.findings.layer_scores import Line, Pair, Panel, pair_title, panels, pearson, shown
from isoglot.report.findings.published import FIGURE_7_CKA
from isoglot.report.quantities import mean_and_range
from isoglot.study.conditions import DEFAULT, MONOLINGUAL, label_of
from isoglot.study.searches import NewVectors

RETRIEVAL = "aligned_retrieval_p1"
CKA = "cka"
PRECISION, LIKENESS = "precision at 1 (%)", "linear CKA"
WORD_ROWS = {
    "contextual_p1": "Monolingual, {source} to {target} by CSLS",
    "contextual_p1_cosine": "Monolingual, {source} to {target} by cosine",
}
FASTTEXT_LEVELS = {
    "fasttext_of_contextual_words_p1": "fastText, {source} to {target}",
}
TASK_ROWS = (
    ("Monolingual, mapped", MONOLINGUAL.name, MAPPED),
    ("Default, both languages in one model", DEFAULT.name, None),
    ("Default, mapped as well", DEFAULT.name, MAPPED),
    ("Monolingual, {target} untrained, mapped", MONOLINGUAL.name, UNTRAINED),
)
OTHER_MEASURES = {
    "cka_debiased": ("debiased CKA", "which few sentences do not raise"),
    "svcca": ("SVCCA", "how far the main directions of both agree, whatever way they are turned"),
    "neuron_correlation": ("ANC", "how far each neuron does the same in both"),
}
PAPERS_CORRELATION = 0.9
Both = Mapping[str, tuple[Sequence[float | None], Sequence[float | None]]]


def layer_figures(measurements: Sequence[Measurement], *, new_vectors: NewVectors) -> Iterator[LineFigure]:
    """All of Figures 4 to 8 that are measured, in the paper's order."""
    yield from word_figures(measurements)
    yield from layer_transfer_figures(measurements, exhibit=FIGURE_5, new_vectors=new_vectors)
    yield from _retrieval_figures(measurements, new_vectors=new_vectors)
    yield from _similarity_figures(measurements)
    yield from layer_transfer_figures(measurements, exhibit=FIGURE_8, new_vectors=new_vectors)


def layer_figure(
    name: str,
    title: str,
    languages: Pair,
    lines: Sequence[Line],
    *,
    unit: str = PRECISION,
    levels: Mapping[str, float] | None = None,
    notes: Sequence[str],
) -> LineFigure:
    """A figure of one chart."""
    chart = _layer_chart(title, lines, unit=unit, levels=levels)
    return _figure_of_pair(name, title, languages, [chart], notes=notes)


def _layer_chart(
    title: str, lines: Sequence[Line], *, unit: str = PRECISION, levels: Mapping[str, float] | None, kind: str = ""
) -> LineChart:
    """Scores are summed up by the best layer, likeness by the mean over layers."""
    if unit == LIKENESS:
        decimals, summed_up = 2, {"mean": [mean_and_range(line.means, is_share=True) for line in lines]}
    else:
        decimals, summed_up = 1, {"best": [mean_and_range(line.best) for line in lines]}
    return LineChart(
        title=title,
        series=lines,
        y_title=unit,
        decimals=decimals,
        references=levels or {},
        caption=f"{unit[:1].upper()}{unit[1:]}{kind}, by layer",
        columns=summed_up,
    )


def _figure_of_pair(
    name: str, title: str, languages: Pair, charts: Sequence[LineChart], *, notes: Sequence[str]
) -> LineFigure:
    if any(len(line.by_seed) > 1 for chart in charts for line in chart.series):
        (column,) = charts[0].columns
        notes = (*notes, f"Means over seeds; {column} is each seed's own, its mean and (lowest-highest).")
    title = f"{title} ({pair_title(languages)})"
    return LineFigure(name=f"{name}.{'-'.join(languages)}", title=title, charts=charts, notes=notes)


def word_figures(measurements: Sequence[Measurement]) -> Iterator[LineFigure]:
    """Figure 4b: words of both languages by a map, from every layer, beside fastText."""
    for panel in panels(measurements, FIGURE_4):
        (source, target), values = panel.languages, panel.values()
        if lines := panel.lines(
            (label.format(source=source, target=target), (metric, MONOLINGUAL.name, None))
            for metric, label in WORD_ROWS.items()
        ):
            yield layer_figure(
                FIGURE_4,
                "Figure 4b: translation of words after a map",
                panel.languages,
                lines,
                levels={
                    label.format(source=source, target=target): values[metric]
                    for metric, label in FASTTEXT_LEVELS.items()
                    if metric in values
                },
                # Coverage always stands beside precision: words that a model lacks are not asked for.
                notes=(
                    f"4b, averaged states: {words_text('contextual', values)}.",
                    f"4a, rows of the embedding matrix that are whole words: {words_text('embedding', values)}.",
                    *few_pairs_note(values["contextual_fitted_pairs"], values),
                ),
            )


def words_text(name: str, values: Mapping[str, float]) -> str:
    if f"{name}_fitted_pairs" not in values:
        return "one of the dictionaries has no entry whose words are one subword each"
    pairs, asked, coverage = (values[f"{name}_{of}"] for of in ("fitted_pairs", "asked", "coverage"))
    text = f"{asked:,.0f} words asked, {coverage:.1f}% of the test pairs covered, map fitted on {pairs:,.0f}"
    if name == "embedding":
        precisions = ", ".join(f"{values[f'{name}_p{at}']:.1f} at {at}" for at in (1, 5, 10))
        text = f"precision {precisions}; {text}"
    fasttext = f"fasttext_of_{name}_words_p1"
    if fasttext in values:
        text += f"; fastText on the same words {values[fasttext]:.1f} (its trainings differ)"
    return text


def few_pairs_note(pairs: float, values: Mapping[str, float]) -> Iterator[str]:
    """A warning about a map that was fitted on fewer pairs than it has dimensions."""
    dimensions = values.get("map_dimensions", 0.0)
    if pairs < dimensions:
        yield (
            f"The map has {dimensions:,.0f} dimensions and was fitted on {pairs:,.0f} pairs: where no pair points it "
            "is not determined, and other sentences or words are mapped by chance there. Give more pairs."
        )


def layer_transfer_figures(
    measurements: Sequence[Measurement], *, exhibit: str, new_vectors: NewVectors
) -> Iterator[LineFigure]:
    """The target's scores, and the source's own for what could be had at best."""
    sources = {(each.languages, each.task): each for each in panels(measurements, exhibit, of_source=True)}
    for panel in panels(measurements, exhibit):
        task, (source, target) = task_named(str(panel.task)), panel.languages
        lines = panel.lines(
            (label.format(target=shown(target)), (task.metric, name, variant)) for label, name, variant in TASK_ROWS
        )
        if of_source := sources.get((panel.languages, panel.task)):
            # A map changes nothing of what the source's model says of the source.
            lines += of_source.lines(
                (f"{label_of(name)}, {source} itself", (task.metric, name, variant))
                for _, name, variant in TASK_ROWS[:2]
            )
        if lines:
            yield layer_figure(
                f"{exhibit}.{task.name}",
                f"Figure {exhibit.removeprefix('figure-')}: {task.title} transfer from each frozen layer",
                panel.languages,
                lines,
                unit=f"{task.metric_titles[task.metric]} (%)",
                notes=(
                    "New layers and the task's own were trained on each frozen layer of the source's model. States "
                    f"are mapped {new_vectors.value}.",
                ),
            )


def rows_of(panel: Panel, metric: str) -> list[Line]:
    """Models of both languages, then of one each; then untrained ones, of one language each only the target's."""
    conditions = dict.fromkeys(name for _, name, _ in panel.scores if name != MONOLINGUAL.name)
    alone = f"{MONOLINGUAL.label}, {shown(panel.languages[1])} untrained"
    kinds: list[tuple[str, str, str | None]] = [
        *((label_of(name), name, None) for name in (*conditions, MONOLINGUAL.name)),
        *((f"{label_of(name)}, untrained", name, UNTRAINED) for name in conditions),
        (alone, MONOLINGUAL.name, UNTRAINED),
    ]
    return panel.lines((label, (metric, name, variant)) for label, name, variant in kinds)


def _retrieval_figures(measurements: Sequence[Measurement], *, new_vectors: NewVectors) -> Iterator[LineFigure]:
    """Figure 6."""
    # The same sentences found by the same models of both languages as they are.
    models = {(each.condition, each.variant, each.seed) for each in measurements if each.exhibit == FIGURE_6}
    here = [each for each in measurements if (each.condition, each.variant, each.seed) in models]
    without_map = {panel.languages: rows_of(panel, "retrieval_p1") for panel in panels(here, EMERGENCE)}
    for panel in panels(measurements, FIGURE_6):
        lines, values, languages = rows_of(panel, RETRIEVAL), panel.values(), panel.languages
        chance, fitted = values.get(f"{RETRIEVAL}_chance"), values.get("fitted_pairs")
        if lines and chance is not None and fitted is not None:
            levels, title = {"chance": chance}, "Figure 6: retrieval of parallel sentences after a map"
            charts = [_layer_chart("After a map", lines, levels=levels, kind=" after a map")]
            if as_they_are := without_map.get(languages):
                charts.append(_layer_chart("Without a map", as_they_are, levels=levels, kind=" without a map"))
            yield _figure_of_pair(
                FIGURE_6,
                title,
                languages,
                charts,
                notes=(
                    f"Mean of both directions; chance {chance:.1f}. Each layer's map was fitted on {fitted:,.0f} other "
                    f"sentences; these are mapped {new_vectors.value}.",
                    *_cut(measurements, exhibit=FIGURE_6, languages=languages),
                    *few_pairs_note(fitted, values),
                ),
            )


def _similarity_figures(measurements: Sequence[Measurement]) -> Iterator[LineFigure]:
    """Figure 7, with the paper's own lines where it has the pair and models are as deep."""
    both = similar_and_retrieved(measurements)
    for panel in panels(measurements, FIGURE_7):
        languages = panel.languages
        if lines := rows_of(panel, CKA):
            num_states = max(line.num_states for line in lines)
            published = [
                Line.of(f"paper: {kind}", values, is_published=True)
                for kind, values in FIGURE_7_CKA.get(languages, {}).items()
                if len(values) == num_states
            ]
            yield layer_figure(
                FIGURE_7,
                "Figure 7: CKA similarity of parallel sentences",
                languages,
                [*lines, *published],
                unit=LIKENESS,
                notes=(
                    *_cut(measurements, exhibit=FIGURE_7, languages=languages),
                    *_similarity_notes(panel, both[languages]),
                ),
            )


def _cut(measurements: Sequence[Measurement], *, exhibit: str, languages: Pair) -> Iterator[str]:
    """By kind of model, where a sentence of any was longer than its windows."""
    found: dict[str, dict[str, float]] = {}
    for each in measurements:
        if (each.exhibit, each.metric, each.variant, each.languages) == (exhibit, SENTENCES_CUT, None, languages):
            found.setdefault(each.condition, {})[each.language] = each.value
    # Models that read with the same windows cut the same sentences, which is then said once.
    alike: dict[str, list[str]] = {}
    for condition, shares in found.items():
        if any(shares.values()):
            text = ", ".join(f"{shown(language)} {share:.1f}%" for language, share in shares.items())
            alike.setdefault(text, []).append(label_of(condition))
    parts = [f"{text} ({', '.join(labels)})" if len(alike) > 1 else text for text, labels in alike.items()]
    if parts:
        yield f"Sentences cut at the end of a window: {'; '.join(parts)}."


def similar_and_retrieved(measurements: Sequence[Measurement]) -> dict[Pair, Both]:
    """For each pair of Figure 7, CKA and retrieval after a map by layer, for every kind of model that has both."""
    found = {panel.languages: rows_of(panel, RETRIEVAL) for panel in panels(measurements, FIGURE_6)}
    both = dict[Pair, Both]()
    for panel in panels(measurements, FIGURE_7):
        retrieved = {line.label: line.layers for line in found.get(panel.languages, ())}
        similar = {line.label: line.layers for line in rows_of(panel, CKA)}
        both[panel.languages] = {label: (similar[label], retrieved[label]) for label in similar if label in retrieved}
    return both


def correlation_text(x: Sequence[float | None], y: Sequence[float | None]) -> str:
    found = pearson(x, y)
    return "undefined" if found is None else f"{found:.2f}"


def _similarity_notes(panel: Panel, both: Both) -> Iterator[str]:
    """Correlations with retrieval (section 5.2), and other measures of likeness."""
    correlations = [f"{label} {correlation_text(*layers)}" for label, layers in both.items()]
    if correlations:
        yield (
            "Pearson correlation of CKA with Figure 6's retrieval over layers (the paper: above "
            f"{PAPERS_CORRELATION} for models of one language each): {'; '.join(correlations)}."
        )
    for metric, (title, meaning) in OTHER_MEASURES.items():
        if lines := rows_of(panel, metric):
            text = "; ".join(f"{line.label} {fmean(line.means):.2f}" for line in lines)
            yield f"Mean {title} over layers, {meaning}: {text}."
