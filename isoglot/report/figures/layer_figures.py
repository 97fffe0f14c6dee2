"""Figures of scores by layer: words (Figure 4), tasks (Figures 5 and 8), and retrieval without a map."""

from collections.abc import Callable, Iterator, Sequence
from math import isnan

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import EMERGENCE, FIGURE_4, FIGURE_5, FIGURE_8, MAPPED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.layer_series import (
    LayerFigure,
    Series,
    few_pairs,
    mean_value,
    pair_title,
    pairs_of,
    series_of,
)
from isoglot.report.figures.sentence_figures import retrieval_figures, similarity_figures
from isoglot.report.layer_scores import METRIC_TITLES, Section, sections
from isoglot.study.conditions import DEFAULT, MONOLINGUAL, label_of
from isoglot.study.searches import NewVectors

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


def layer_figures(measurements: Sequence[Measurement], *, new_vectors: NewVectors) -> Iterator[LayerFigure]:
    """All of Figures 4 to 8 that are measured, in the paper's order."""
    yield from word_figures(measurements)
    yield from layer_transfer_figures(measurements, exhibit=FIGURE_5, new_vectors=new_vectors)
    yield from retrieval_figures(measurements, new_vectors=new_vectors)
    yield from similarity_figures(measurements)
    yield from layer_transfer_figures(measurements, exhibit=FIGURE_8, new_vectors=new_vectors)


def word_figures(measurements: Sequence[Measurement]) -> Iterator[LayerFigure]:
    """Figure 4b: words of both languages by a map, from every layer, beside fastText."""
    for languages in pairs_of(measurements, FIGURE_4):
        source, target = languages
        kinds = [
            (label.format(source=source, target=target), MONOLINGUAL.name, metric, None)
            for metric, label in WORD_ROWS.items()
        ]
        rows = series_of(measurements, kinds, exhibit=FIGURE_4, languages=languages)

        def value(metric: str, *, languages: tuple[str, str] = languages) -> float:
            return mean_value(measurements, exhibit=FIGURE_4, metric=metric, languages=languages)

        if rows:
            fasttext = {
                f"fastText, {source} to {target}": value(f"{FASTTEXT}_p1"),
                f"fastText, {target} to {source}": value(f"{FASTTEXT}_p1_to_source"),
            }
            yield LayerFigure(
                name=f"{FIGURE_4}.{'-'.join(languages)}",
                title=f"Figure 4b: translation of words after a map ({pair_title(languages)})",
                unit="precision at 1 (%)",
                decimals=1,
                rows=rows,
                summary_title="best",
                summary=lambda row: row.best,
                references=tuple((label, level) for label, level in fasttext.items() if not isnan(level)),
                notes=(*_notes(value), *few_pairs(value("contextual_fitted_pairs"), value("map_dimensions"))),
            )


def _notes(value: Callable[[str], float]) -> Iterator[str]:
    """Coverage always stands beside precision: words that a model lacks are not asked for."""
    yield f"4b, averaged states: {_of_words('contextual', value)}."
    yield f"4a, rows of the embedding matrix that are whole words: {_of_words('embedding', value)}."


def _of_words(name: str, value: Callable[[str], float]) -> str:
    pairs = value(f"{name}_fitted_pairs")
    if isnan(pairs):
        return "one of the dictionaries has no entry whose words are one subword each"
    asked, coverage = value(f"{name}_asked"), value(f"{name}_coverage")
    text = f"{asked:,.0f} words asked, {coverage:.1f}% of the test pairs covered, map fitted on {pairs:,.0f}"
    if name == "embedding":
        precisions = ", ".join(f"{value(f'{name}_p{at}'):.1f} at {at}" for at in (1, 5, 10))
        text = f"precision {precisions}, back {value(f'{name}_p1_to_source'):.1f}; {text}"
    fasttext = value(f"fasttext_of_{name}_words_p1")
    if not isnan(fasttext):
        back = value(f"fasttext_of_{name}_words_p1_to_source")
        text += f"; fastText on the same words {fasttext:.1f}, back {back:.1f} (its trainings differ)"
    return text


def layer_transfer_figures(
    measurements: Sequence[Measurement], *, exhibit: str, new_vectors: NewVectors
) -> Iterator[LayerFigure]:
    here = [each for each in measurements if each.exhibit == exhibit]
    for languages in pairs_of(here, exhibit):
        for task in dict.fromkeys(each.task for each in here if each.languages == languages and each.task):
            rows = tuple(_task_rows(here, exhibit=exhibit, task=task, languages=languages))
            if rows:
                title = task_named(task).title
                number = "5" if exhibit == FIGURE_5 else "8"
                yield LayerFigure(
                    name=f"{exhibit}.{task}.{'-'.join(languages)}",
                    title=f"Figure {number}: {title} transfer from each frozen layer ({pair_title(languages)})",
                    unit=f"{task_named(task).metric_titles[task_named(task).metric]} (%)",
                    decimals=1,
                    rows=rows,
                    summary_title="best",
                    summary=lambda row: row.best,
                    notes=(
                        "New layers and the task's own were trained on each frozen layer of the source's model. States "
                        f"are mapped {new_vectors.value}.",
                    ),
                )


def _task_rows(
    measurements: Sequence[Measurement], *, exhibit: str, task: str, languages: tuple[str, str]
) -> Iterator[Series]:
    """The target's scores, and the source's own for what could be had at best."""
    source, target = languages
    metric = task_named(task).metric
    of_target = [(label, condition, metric, variant) for label, condition, variant in TASK_ROWS]
    # A map changes nothing of what the source's model says of the source.
    of_source = [(f"{label_of(name)}, {source} itself", name, metric, variant) for _, name, variant in TASK_ROWS[:2]]
    for language, kinds in ((target, of_target), (source, of_source)):
        yield from series_of(measurements, kinds, exhibit=exhibit, languages=languages, task=task, language=language)


def emergence_figures(measurements: Sequence[Measurement]) -> Iterator[tuple[str, Section, LayerFigure]]:
    """The metric, all that is said of it, and its figure."""
    for section in sections(measurements):
        metric = next(name for name, title in METRIC_TITLES.items() if section.title.startswith(title))
        languages = section.rows[0].languages
        kinds = [(label_of(row.condition), row.condition, metric, None) for row in section.rows]
        yield (
            metric,
            section,
            LayerFigure(
                name=f"{metric.removesuffix('_p1').replace('_', '-')}.{'-'.join(languages)}",
                title=section.title,
                unit="precision at 1 (%)",
                decimals=1,
                rows=series_of(measurements, kinds, exhibit=EMERGENCE, languages=languages),
                summary_title="best",
                summary=lambda row: row.best,
                references=() if section.chance is None else (("chance", section.chance),),
            ),
        )
