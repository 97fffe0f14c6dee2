"""Named-entity recognition: BIO tags of words, and the spans they make."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from isoglot.corpora.synthetic import draw_meanings, trees
from isoglot.corpora.words import whole_words
from isoglot.evaluation.transfer.bio_tags import OUTSIDE, TaggedSentence, bio_text, read_bio, repair_bio, span_counts
from isoglot.evaluation.transfer.realigned_tags import needs_realignment, realigned
from isoglot.evaluation.transfer.task import Recipe, Segments, Task, Windows
from isoglot.study.languages import WordSplitting
from isoglot.study.synthetic_languages import SyntheticLanguage, World


class Ner(Task[TaggedSentence]):
    """A linear softmax on first subwords; its tags are repaired to spans of one type each."""

    name = "ner"
    title = "NER"
    metric = "f1"
    metric_titles: ClassVar = {"f1": "F1", "precision": "Precision", "recall": "Recall"}
    suffix = ".bio"
    scorer = "seqeval, or with conlleval on the columns of: paste GOLD PREDICTED | cut -f 1,2,4"
    recipe = Recipe.WORDS
    windows = Windows.OVERLAPPING

    def read_official(
        self, paths: Sequence[Path], *, splitting: WordSplitting
    ) -> tuple[list[TaggedSentence], dict[str, int]]:
        sentences = [sentence for path in paths for sentence in read_bio(path)]
        if needs_realignment(sentences):
            return realigned(sentences, splitting)
        return [replace(each, words=whole_words(each.words, splitting)) for each in sentences], {}

    def made_up(self, language: SyntheticLanguage, *, world: World, count: int, seed: int) -> list[TaggedSentence]:
        made = trees(draw_meanings(world, count=count, seed=seed), language, world=world)
        return [TaggedSentence(words=tree.words, tags=tree.entity_tags) for tree in made]

    def read(self, path: Path) -> list[TaggedSentence]:
        return read_bio(path)

    def text(self, examples: Sequence[TaggedSentence]) -> str:
        return bio_text(examples)

    def segments(self, example: TaggedSentence) -> Segments:
        return (example.words,)

    def gold_labels(self, example: TaggedSentence) -> tuple[str, ...]:
        return example.tags

    def scored(self, label: str) -> str | None:
        # Spans are counted, not the words between them.
        return None if label == OUTSIDE else label

    def predicted(
        self, example: TaggedSentence, columns: Sequence[Sequence[int]], labels: Sequence[str]
    ) -> TaggedSentence:
        return replace(example, tags=tuple(repair_bio([labels[label] for label in columns[0]])))

    def scores(self, gold: Sequence[TaggedSentence], predicted: Sequence[TaggedSentence]) -> dict[str, float]:
        counts, _ = span_counts([each.tags for each in gold], [each.tags for each in predicted])
        return {"f1": counts.f1, "precision": counts.precision, "recall": counts.recall}

    def breakdown(self, gold: Sequence[TaggedSentence], predicted: Sequence[TaggedSentence]) -> list[list[str]]:
        _, by_type = span_counts([each.tags for each in gold], [each.tags for each in predicted])
        return [["type", "spans", "precision", "recall", "F1"]] + [
            [type_, str(each.gold), f"{each.precision:.1f}", f"{each.recall:.1f}", f"{each.f1:.1f}"]
            for type_, each in by_type.items()
        ]


TASK = Ner()
