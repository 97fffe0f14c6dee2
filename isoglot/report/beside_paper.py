"""What the paper prints where a study's Table 1 has a number."""

from collections.abc import Sequence

from isoglot.report.published import TARGETS, TITLE_OF_TASK, papers_score, published_delta
from isoglot.report.transfer_scores import Model


def papers_score_of(model: Model, *, task: str, languages: tuple[str, str]) -> float | None:
    """None beside what the paper has no score of."""
    return papers_score(model.condition, task=task, languages=languages) if model.is_pretrained else None


def papers_delta(model: Model, *, task: str, source: str, targets: Sequence[str]) -> float | None:
    """Over the paper's three targets, and so only beside a study of all of them."""
    printed = [papers_score_of(model, task=task, languages=(source, target)) for target in targets]
    if None in printed or len(printed) < len(TARGETS):
        return None
    return published_delta(model.condition, task=TITLE_OF_TASK[task])
