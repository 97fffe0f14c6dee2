"""Says when a model goes on guessing words by their frequency alone, which is what troubles users of XLM most."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from isoglot.pretraining.blind_losses import BlindLosses
from isoglot.pretraining.run import PretrainingRun
from isoglot.pretraining.update_record import UpdateRecord

REMEMBERED = 100
"""Losses are running means over about so many updates of a language."""
MARGIN = 0.1
"""In nats: a loss so far below any that can be had without other words has left the plateau."""
FEWEST_UPDATES = 1000
ENOUGH_UPDATES = 2000
"""Half of a short run is waited for, but no longer than this."""
PAGE = "docs/training.md"


class Plateau:
    """Compares each language's running loss with those of models that look at no other word."""

    def __init__(self, blind: Mapping[str, BlindLosses], *, run: PretrainingRun):
        self.blind = blind
        self.first = first_told(run)
        self.num_updates: Counter[str] = Counter()
        self.means: dict[str, float] = {}
        """Of the losses of languages that have been read."""
        self.told_of: set[str] = set()

    def told(self, records: Sequence[UpdateRecord]) -> str | None:
        """What the user should hear after these updates, if anything: of a run that learns, nothing."""
        sentences = [sentence for record in records for sentence in self._told(record)]
        return "; ".join(sentences) or None

    def _told(self, record: UpdateRecord) -> Iterable[str]:
        if not record.skipped:
            self._remember(record.losses)
        if left := sorted(language for language in self.told_of if self._has_left(language)):
            self.told_of.difference_update(left)
            yield f"left the unigram plateau at update {record.update:,} ({self._listed(left)})"
        if not _is_doubled(record.update, first=self.first):
            return
        above = [language for language in self.means if self._is_above(language)]
        at = [language for language in self.means if language not in above and not self._has_left(language)]
        self.told_of.update(above, at)
        if at:
            yield (
                f"still at the unigram plateau after {record.update:,} updates: see {PAGE} "
                f"({self._listed(at)}, which words' frequencies alone can give)"
            )
        if above:
            yield (
                f"still above the unigram plateau after {record.update:,} updates, as if it had not even learnt which "
                f"words are frequent: see {PAGE} ({self._listed(above)})"
            )

    def _remember(self, losses: Mapping[str, float]) -> None:
        for language, loss in losses.items():
            self.num_updates[language] += 1
            mean = self.means.get(language, 0.0)
            self.means[language] = mean + (loss - mean) / min(self.num_updates[language], REMEMBERED)

    def _has_left(self, language: str) -> bool:
        return self.means[language] < self.blind[language].unigram_or_kept - MARGIN

    def _is_above(self, language: str) -> bool:
        """Nearer to knowing nothing than to the plateau.

        Not just above it: a model that does not yet know which language it reads is off by log 2, and dropout costs.
        """
        blind = self.blind[language]
        return self.means[language] > max((blind.unigram + blind.uniform) / 2, blind.unigram + MARGIN)

    def _listed(self, languages: Iterable[str]) -> str:
        return ", ".join(f"{language}: loss {self.means[language]:.2f}" for language in languages)


def first_told(run: PretrainingRun) -> int:
    """After how many updates a run that has not left the plateau is told of, and then at each doubling.

    Twice the warm-up, since no model learns before; and half of a short run.
    """
    return max(FEWEST_UPDATES, 2 * run.optimization.warmup_updates, min(run.updates // 2, ENOUGH_UPDATES))


def _is_doubled(update: int, *, first: int) -> bool:
    """Whether it is the first number or twice that, or twice that again; the number alone says, resumed or not."""
    times, rest = divmod(update, first)
    return rest == 0 and times.bit_count() == 1
