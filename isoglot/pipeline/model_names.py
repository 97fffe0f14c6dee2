"""Models by name, as `isoglot compare` and `isoglot export` take them: study:condition:language."""

import shlex
from pathlib import Path

from isoglot.errors import IsoglotError, suggestion
from isoglot.pipeline.figures import OF_PRIME
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.model_pairs import Side
from isoglot.store import Store
from isoglot.study.conditions import MONOLINGUAL, Condition, condition_named
from isoglot.study.languages import PRIME, original
from isoglot.study.study import Study, read_study, with_conditions, with_seeds

FORM = (
    'as in "demo:default:oru" or "demo:monolingual:oru:1": a study, a condition, a language, perhaps a pair or a seed'
)
UNTRAINED = "untrained"
OF_SECOND_MODELS = ("figure-7",)
OF_ONE_LANGUAGE = ("figure-7", "figure-6", "figure-4")
OF_TWO_LANGUAGES = ("emergence", "table-1", "training", "figure-6", "figure-7")
"""Exhibits that show all models of a kind, unless the study narrows them."""


def named_side(name: str, *, store: Store, data: Path | None = None, language: str | None = None) -> Side:
    """A language as a model of the store reads it; the language may stand in the name or beside it."""
    study_name, *words = name.split(":")
    if not words:
        raise IsoglotError(f"{name!r} names no model; write it {FORM}")
    study = read_study(study_name, data=data)
    condition, *choices = words
    if language is not None:
        if other := [choice for choice in choices if choice in study.languages and choice != language]:
            raise IsoglotError(f"{name}: the name says {other[0]} and --language {language}; drop one of them")
        choices = [language, *(choice for choice in choices if choice != language)]
    side = _side(name, study=study, condition=condition, choices=choices)
    if not store.has(side.encoder):
        if store.find_folder(side.encoder) is not None:
            raise IsoglotError(
                f"{name}: {store.root} has only a summary of this model; where it was made, pack it with isoglot pack "
                "--largest-file 1GB, and unpack that here"
            )
        raise IsoglotError(f"{name}: this model is not in {store.root} yet{_making(study_name, side, store, data)}")
    return side


def _making(study: str, side: Side, store: Store, data: Path | None) -> str:
    """The command, with an exhibit that shows the model and its condition, as the study's own may not."""
    graph = side.graph
    asked, choices = with_seeds(graph.study, [graph.seed]), list[str]()
    exhibits: tuple[str, ...] = OF_ONE_LANGUAGE
    if any(language.endswith(PRIME) for language in graph.languages):
        exhibits = OF_SECOND_MODELS
    elif graph.condition is not MONOLINGUAL:
        asked, exhibits = with_conditions(asked, [graph.condition.name]), OF_TWO_LANGUAGES
        choices = ["--conditions", graph.condition.name]
    for exhibit in exhibits:
        part = asked.of_exhibit(exhibit)
        if part.seeds and part.conditions and {*map(original, graph.languages)} <= {*part.languages}:
            words = ["isoglot", "run", study, "--store", str(store.root), *(["--data", str(data)] if data else [])]
            words += ["--exhibits", exhibit, *choices, "--seeds", str(graph.seed)]
            return f"; make it with: {shlex.join(words)}"
    return f", and {study} does not ask for it: the tables [only] in it leave it out"


def _side(name: str, *, study: Study, condition: str, choices: list[str]) -> Side:
    chosen = _condition(name, study=study, condition=condition)
    pairs = {"-".join(pair): pair for pair in study.pairs}
    languages = [choice for choice in choices if choice in (*study.languages, study.languages[0] + PRIME)]
    named_pairs = [choice for choice in choices if choice in pairs]
    seeds = [choice for choice in choices if choice.isdecimal()]
    unknown = [choice for choice in choices if choice not in (*languages, *named_pairs, *seeds, UNTRAINED)]
    if unknown:
        raise IsoglotError(
            f"{name}: {unknown[0]!r} is no language, pair or seed of {study.name} "
            f"({', '.join((*study.languages, *pairs))}); write a model {FORM}"
        )
    if len(languages) != 1 or len(seeds) > 1 or len(named_pairs) > 1:
        raise IsoglotError(f"{name}: say one language, {' or '.join(study.languages)}; write a model {FORM}")
    graph = ModelGraph(
        study=study,
        condition=chosen,
        languages=_languages(name, study, chosen, languages[0], [pairs[each] for each in named_pairs]),
        seed=int(seeds[0]) if seeds else study.seeds[0],
    )
    return Side(
        graph=graph,
        encoder=graph.untrained if UNTRAINED in choices else graph.pretrained,
        language=languages[0],
    )


def _condition(name: str, *, study: Study, condition: str) -> Condition:
    """The study's own, any other of the paper, or models of one language."""
    if condition == MONOLINGUAL.name:
        return MONOLINGUAL
    try:
        return condition_named(condition)
    except IsoglotError:
        known = ", ".join([*(each.name for each in study.conditions), MONOLINGUAL.name])
        raise IsoglotError(
            f"{name}: {condition!r} is no condition; {study.name} has {known}{suggestion(condition, known.split(', '))}"
        ) from None


def _languages(
    name: str, study: Study, condition: Condition, language: str, pairs: list[tuple[str, str]]
) -> tuple[str, ...]:
    """Of the model that is meant: the language alone, or the pair it belongs to."""
    if condition is MONOLINGUAL:
        return (language,)
    if language.endswith(PRIME):
        if condition != OF_PRIME:
            raise IsoglotError(
                f"{name}: a language's second model is trained alone ({MONOLINGUAL.name}) or with the first under "
                f"{OF_PRIME.name}, as in Figure 7"
            )
        return (study.languages[0], language)
    fitting = [pair for pair in pairs or study.pairs if language in pair]
    known = ", ".join("-".join(pair) for pair in study.pairs)
    if not fitting:
        raise IsoglotError(f"{name}: no model of that pair reads {language!r}; the pairs are {known}")
    if len(fitting) > 1:
        raise IsoglotError(f"{name}: several models read {language!r}; say which pair: {known}")
    return fitting[0]
