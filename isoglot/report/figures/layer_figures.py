"""Figures of scores by layer: words (4), tasks (5 and 8), sentences (6 and 7), and retrieval without a map."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import EMERGENCE, MAPPED, UNTRAINED
from isoglot.pipeline.figures import FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8
from isoglot.pipeline.measurements import Measurement
from isoglot.pipeline.stages.readers import SENTENCES_CUT
from isoglot.report.figures.layer_series import (
    Line,
    LineChart,
    LineFigure,
    SeriesKind,
    few_pairs,
    layer_figure,
    mean_values,
    pairs_of,
    pearson,
    series_of,
    shown,
)
from isoglot.report.layer_scores import METRIC_TITLES, Section, sections
from isoglot.report.published import FIGURE_7_CKA
from isoglot.report.quantities import mean_and_range
from isoglot.study.conditions import DEFAULT, MONOLINGUAL, label_of
from isoglot.study.searches import NewVectors

RETRIEVAL = "aligned_retrieval_p1"
CKA = "cka"
PRECISION = "precision at 1 (%)"
WORD_ROWS = {
    "contextual_p1": "Monolingual, {source} to {target} by CSLS",
    "contextual_p1_to_source": "Monolingual, {target} to {source} by CSLS",
    "contextual_p1_cosine": "Monolingual, {source} to {target} by cosine",
}
FASTTEXT = "fasttext_of_contextual_words"
TASK_ROWS = (
    ("Monolingual, mapped", MONOLINGUAL.name, MAPPED),
    ("Default, both languages in one model", DEFAULT.name, None),
    ("Default, mapped as well", DEFAULT.name, MAPPED),
)
OTHER_MEASURES = {
    "cka_debiased": ("debiased CKA", "which few sentences do not raise"),
    "svcca": ("SVCCA", "how far the main directions of both agree, whatever way they are turned"),
    "neuron_correlation": ("ANC", "how far each neuron does the same in both"),
}
PAPERS_CORRELATION = 0.9


def layer_figures(measurements: Sequence[Measurement], *, new_vectors: NewVectors) -> Iterator[LineFigure]:
    """All of Figures 4 to 8 that are measured, in the paper's order."""
    yield from word_figures(measurements)
    yield from layer_transfer_figures(measurements, exhibit=FIGURE_5, new_vectors=new_vectors)
    yield from _retrieval_figures(measurements, new_vectors=new_vectors)
    yield from _similarity_figures(measurements)
    yield from layer_transfer_figures(measurements, exhibit=FIGURE_8, new_vectors=new_vectors)


def word_figures(measurements: Sequence[Measurement]) -> Iterator[LineFigure]:
    """Figure 4b: words of both languages by a map, from every layer, beside fastText."""
    for source, target in pairs_of(measurements, FIGURE_4):
        languages = (source, target)
        kinds: list[SeriesKind] = [
            (label.format(source=source, target=target), MONOLINGUAL.name, metric, None)
            for metric, label in WORD_ROWS.items()
        ]
        if lines := series_of(measurements, kinds, exhibit=FIGURE_4, languages=languages):
            values = mean_values(measurements, exhibit=FIGURE_4, languages=languages)
            fasttext = {
                f"fastText, {source} to {target}": f"{FASTTEXT}_p1",
                f"fastText, {target} to {source}": f"{FASTTEXT}_p1_to_source",
            }
            yield layer_figure(
                FIGURE_4,
                "Figure 4b: translation of words after a map",
                PRECISION,
                lines,
                languages=languages,
                references={label: values[metric] for label, metric in fasttext.items() if metric in values},
                # Coverage always stands beside precision: words that a model lacks are not asked for.
                notes=(
                    f"4b, averaged states: {_of_words('contextual', values)}.",
                    f"4a, rows of the embedding matrix that are whole words: {_of_words('embedding', values)}.",
                    *few_pairs(values["contextual_fitted_pairs"], values.get("map_dimensions", 0.0)),
                ),
            )


def _of_words(name: str, values: Mapping[str, float]) -> str:
    if f"{name}_fitted_pairs" not in values:
        return "one of the dictionaries has no entry whose words are one subword each"
    pairs, asked, coverage = (values[f"{name}_{of}"] for of in ("fitted_pairs", "asked", "coverage"))
    text = f"{asked:,.0f} words asked, {coverage:.1f}% of the test pairs covered, map fitted on {pairs:,.0f}"
    if name == "embedding":
        precisions = ", ".join(f"{values[f'{name}_p{at}']:.1f} at {at}" for at in (1, 5, 10))
        text = f"precision {precisions}, back {values[f'{name}_p1_to_source']:.1f}; {text}"
    fasttext = f"fasttext_of_{name}_words_p1"
    if fasttext in values:
        there, back = values[fasttext], values[f"{fasttext}_to_source"]
        text += f"; fastText on the same words {there:.1f}, back {back:.1f} (its trainings differ)"
    return text


def layer_transfer_figures(
    measurements: Sequence[Measurement], *, exhibit: str, new_vectors: NewVectors
) -> Iterator[LineFigure]:
    """The target's scores, and the source's own for what could be had at best."""
    here = [each for each in measurements if each.exhibit == exhibit]
    found = dict.fromkeys((each.languages, each.task) for each in here if each.task)
    for languages, name in sorted(found, key=lambda each: pairs_of(here, exhibit).index(each[0])):
        task, (source, target) = task_named(name), languages
        of_target = [(label, condition, task.metric, variant) for label, condition, variant in TASK_ROWS]
        # A map changes nothing of what the source's model says of the source.
        of_source = [(f"{label_of(each)}, {source} itself", each, task.metric, kind) for _, each, kind in TASK_ROWS[:2]]
        lines = [
            line
            for language, kinds in ((target, of_target), (source, of_source))
            for line in series_of(here, kinds, exhibit=exhibit, languages=languages, task=name, language=language)
        ]
        if lines:
            yield layer_figure(
                f"{exhibit}.{name}",
                f"Figure {exhibit.removeprefix('figure-')}: {task.title} transfer from each frozen layer",
                f"{task.metric_titles[task.metric]} (%)",
                lines,
                languages=languages,
                references={},
                notes=(
                    "New layers and the task's own were trained on each frozen layer of the source's model. States "
                    f"are mapped {new_vectors.value}.",
                ),
            )


def rows_of(
    measurements: Sequence[Measurement], *, exhibit: str, metric: str, languages: tuple[str, str]
) -> list[Line]:
    """Models of both languages, then of one each, then with an untrained one of the target."""
    here = [each for each in measurements if each.exhibit == exhibit and each.languages == languages]
    conditions = dict.fromkeys(each.condition for each in here)
    kinds: list[SeriesKind] = [(label_of(name), name, metric, None) for name in conditions if name != MONOLINGUAL.name]
    kinds.append((MONOLINGUAL.label, MONOLINGUAL.name, metric, None))
    kinds.append((f"{MONOLINGUAL.label}, {shown(languages[1])} untrained", MONOLINGUAL.name, metric, UNTRAINED))
    return series_of(here, kinds, exhibit=exhibit, languages=languages)


def _retrieval_figures(measurements: Sequence[Measurement], *, new_vectors: NewVectors) -> Iterator[LineFigure]:
    """Figure 6."""
    for languages in pairs_of(measurements, FIGURE_6):
        lines = rows_of(measurements, exhibit=FIGURE_6, metric=RETRIEVAL, languages=languages)
        values = mean_values(measurements, exhibit=FIGURE_6, languages=languages)
        chance, fitted = values.get(f"{RETRIEVAL}_chance"), values.get("fitted_pairs")
        if lines and chance is not None and fitted is not None:
            yield layer_figure(
                FIGURE_6,
                "Figure 6: retrieval of parallel sentences after a map",
                PRECISION,
                lines,
                languages=languages,
                references={"chance": chance},
                notes=(
                    f"Mean of both directions; chance {chance:.1f}. Each layer's map was fitted on {fitted:,.0f} other "
                    f"sentences; these are mapped {new_vectors.value}.",
                    *_cut(measurements, exhibit=FIGURE_6, languages=languages),
                    *few_pairs(fitted, values.get("map_dimensions", 0.0)),
                ),
            )


def _similarity_figures(measurements: Sequence[Measurement]) -> Iterator[LineFigure]:
    """Figure 7, with the paper's own lines where it has the pair and models are as deep."""
    for languages in pairs_of(measurements, FIGURE_7):
        if lines := rows_of(measurements, exhibit=FIGURE_7, metric=CKA, languages=languages):
            num_states = max(line.num_states for line in lines)
            published = [
                Line.of(f"paper: {kind}", values, is_published=True)
                for kind, values in FIGURE_7_CKA.get(languages, {}).items()
                if len(values) == num_states
            ]
            yield layer_figure(
                FIGURE_7,
                "Figure 7: CKA similarity of parallel sentences",
                "linear CKA",
                [*lines, *published],
                languages=languages,
                references={},
                notes=(
                    *_cut(measurements, exhibit=FIGURE_7, languages=languages),
                    *_correlations(measurements, languages),
                    *_other_measures(measurements, languages),
                ),
                is_similarity=True,
            )


def _cut(measurements: Sequence[Measurement], *, exhibit: str, languages: tuple[str, str]) -> Iterator[str]:
    """By kind of model, where a sentence of any was longer than its windows."""
    found: dict[str, dict[str, float]] = {}
    for each in measurements:
        if (each.exhibit, each.metric, each.variant, each.languages) == (exhibit, SENTENCES_CUT, None, languages):
            found.setdefault(each.condition, {})[each.language] = each.value
    alike: dict[str, list[str]] = {}
    for condition, shares in found.items():
        if any(shares.values()):
            text = ", ".join(f"{shown(language)} {share:.1f}%" for language, share in shares.items())
            alike.setdefault(text, []).append(label_of(condition))
    parts = [f"{text} ({', '.join(labels)})" if len(alike) > 1 else text for text, labels in alike.items()]
    if parts:
        yield f"Sentences cut at the end of a window: {'; '.join(parts)}."


def similar_and_retrieved(
    measurements: Sequence[Measurement], languages: tuple[str, str]
) -> dict[str, tuple[Sequence[float | None], Sequence[float | None]]]:
    """CKA and retrieval after a map by layer, for every kind of model that has both."""
    similar, retrieved = (
        {line.label: line.layers for line in rows_of(measurements, exhibit=exhibit, metric=metric, languages=languages)}
        for exhibit, metric in ((FIGURE_7, CKA), (FIGURE_6, RETRIEVAL))
    )
    return {label: (layers, retrieved[label]) for label, layers in similar.items() if label in retrieved}


def correlation_text(x: Sequence[float | None], y: Sequence[float | None]) -> str:
    found = pearson(x, y)
    return "undefined" if found is None else f"{found:.2f}"


def _correlations(measurements: Sequence[Measurement], languages: tuple[str, str]) -> Iterator[str]:
    """Section 5.2."""
    both = similar_and_retrieved(measurements, languages)
    correlations = [f"{label} {correlation_text(*layers)}" for label, layers in both.items()]
    if correlations:
        yield (
            "Pearson correlation of CKA with Figure 6's retrieval over layers (the paper: above "
            f"{PAPERS_CORRELATION} for models of one language each): {'; '.join(correlations)}."
        )


def _other_measures(measurements: Sequence[Measurement], languages: tuple[str, str]) -> Iterator[str]:
    for metric, (title, meaning) in OTHER_MEASURES.items():
        if lines := rows_of(measurements, exhibit=FIGURE_7, metric=metric, languages=languages):
            text = "; ".join(f"{line.label} {fmean(line.means):.2f}" for line in lines)
            yield f"Mean {title} over layers, {meaning}: {text}."


def emergence_figures(measurements: Sequence[Measurement]) -> Iterator[tuple[str, Section, LineFigure]]:
    """Retrieval without a map: the metric, all that is said of it, and its figure."""
    for section in sections(measurements):
        metric = next(name for name, title in METRIC_TITLES.items() if section.title.startswith(title))
        languages = section.rows[0].languages
        kinds = [(label_of(row.condition), row.condition, metric, None) for row in section.rows]
        chart = LineChart(
            title=section.title,
            series=series_of(measurements, kinds, exhibit=EMERGENCE, languages=languages),
            y_title=PRECISION,
            decimals=1,
            references={} if section.chance is None else {"chance": section.chance},
            caption="Precision at 1 in percent, by layer",
            columns={
                "best": [mean_and_range(row.best) for row in section.rows],
                "before training": [f"{row.mean_untrained_best:.1f}" for row in section.rows],
            },
        )
        name = f"{metric.removesuffix('_p1').replace('_', '-')}.{'-'.join(languages)}"
        yield metric, section, LineFigure(name=name, title=section.title, charts=[chart])
