"""The top of the page: what was asked, how large the models are, and how far the study is."""

from isoglot.pipeline.cells import VOCABULARY
from isoglot.report.page.markup import Html, joined, tag
from isoglot.report.report_files import Asked
from isoglot.report.state import State


def page_head(asked: Asked, state: State) -> Html:
    languages = " and ".join([", ".join(asked.languages[:-1]), asked.languages[-1]])
    title = tag("h1", asked.name, tag("small", f"Cross-lingual structure in models of {languages}"))
    return joined([title, tag("p", _of_models(asked), class_="facts"), _status(state)])


def _of_models(asked: Asked) -> str:
    if not {*asked.exhibits} - {VOCABULARY}:
        return "Vocabularies alone: no model was asked for."
    scale = asked.scale
    seeds = ("seed " if len(asked.seeds) == 1 else "seeds ") + ", ".join(map(str, asked.seeds))
    if fewer := [
        exhibit for exhibit, only in asked.only.items() if not all(only.keeps("seeds", seed) for seed in asked.seeds)
    ]:
        seeds += f" (not all of them for {', '.join(fewer)})"
    return (
        f"Scale {scale.name}: {scale.shape.layers} layers of width {scale.shape.width}, {scale.tokens:,} tokens a "
        f"model; {seeds}{'; the languages are made up' if asked.is_made_up else ''}."
    )


def _status(state: State) -> Html:
    """Nothing where all is there."""
    if not state.cells_lacking and not state.failures:
        return Html()
    done = state.cells - state.cells_lacking
    failed = f" {len(state.failures)} failed." if state.failures else ""
    return tag(
        "p",
        tag("progress", value=str(done), max=str(state.cells), aria_label="Results that are there"),
        tag("span", f"{done:,} of {state.cells:,} results are there; the rest is pending.{failed} "),
        tag("a", "What is missing", href="#missing"),
        class_="status failed" if state.failures else "status",
    )
