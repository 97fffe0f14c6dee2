"""Natural language inference: does a premise entail its hypothesis, contradict it, or neither?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import ClassVar

from isoglot.corpora.readers.inference_pairs import InferencePair, inference_pairs, is_official_header, official_pairs
from isoglot.corpora.readers.line_files import LineFile
from isoglot.corpora.synthetic import entailment_pairs
from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.task import Recipe, Segments, Task, Windows
from isoglot.study.languages import WordSplitting
from isoglot.study.synthetic_languages import SyntheticLanguage, World

MADE_UP_WORDS = 13
"""The most words of premise and hypothesis together; with three end symbols they fill a window of the demo."""


@dataclass(frozen=True, kw_only=True)
class Inference:
    premise: tuple[str, ...]
    hypothesis: tuple[str, ...]
    label: str


class Nli(Task[Inference]):
    """Both sentences are one sequence, and a linear softmax on its first position decides."""

    name = "nli"
    title = "NLI"
    metric = "accuracy"
    metric_titles: ClassVar = {"accuracy": "Acc"}
    # The three labels are as frequent as each other in XNLI and in made-up pairs.
    chance = 100 / 3
    suffix = ".tsv"
    scorer = "what you like: paste GOLD PREDICTED | cut -f 3,6 | sort | uniq -c"
    recipe = Recipe.PAIRS
    windows = Windows.CUT
    dropout = 0.0  # as XLM has it

    def read_official(
        self, paths: Sequence[Path], *, splitting: WordSplitting
    ) -> tuple[list[Inference], dict[str, int]]:
        """Rows of premise, hypothesis and label, or the table of all languages that XNLI is released as."""
        pairs = [placed for path in paths for placed in _pairs(path, language=splitting.language)]
        # All texts at once, as a segmenter is slow to start.
        words = split_lines([text for _, pair in pairs for text in (pair.premise, pair.hypothesis)], splitting)
        inferences = []
        for (where, pair), premise, hypothesis in zip(pairs, words[::2], words[1::2], strict=True):
            if not premise or not hypothesis:
                blank = "hypothesis" if premise else "premise"
                raise IsoglotError(f"{where}: the {blank} has no words; drop the row")
            inferences.append(Inference(premise=tuple(premise), hypothesis=tuple(hypothesis), label=pair.label))
        return inferences, {}

    def made_up(self, language: SyntheticLanguage, *, world: World, count: int, seed: int) -> list[Inference]:
        pairs = entailment_pairs(language, world=world, count=count, seed=seed, most_words=MADE_UP_WORDS)
        return [_inference(pair.premise, pair.hypothesis, pair.label) for pair in pairs]

    def read(self, path: Path) -> list[Inference]:
        pairs = inference_pairs(list(LineFile(path)), path=path).values()
        return [_inference(pair.premise, pair.hypothesis, pair.label) for pair in pairs]

    def text(self, examples: Sequence[Inference]) -> str:
        return "".join(f"{' '.join(each.premise)}\t{' '.join(each.hypothesis)}\t{each.label}\n" for each in examples)

    def segments(self, example: Inference) -> Segments:
        return example.premise, example.hypothesis

    def gold_labels(self, example: Inference) -> tuple[str, ...]:
        return (example.label,)

    def predicted(self, example: Inference, columns: Sequence[Sequence[int]], labels: Sequence[str]) -> Inference:
        return replace(example, label=labels[columns[0][0]])

    def scores(self, gold: Sequence[Inference], predicted: Sequence[Inference]) -> dict[str, float]:
        right = sum(a.label == b.label for a, b in zip(gold, predicted, strict=True))
        return {"accuracy": 100 * right / len(gold)}

    def breakdown(self, gold: Sequence[Inference], predicted: Sequence[Inference]) -> list[list[str]]:
        pairs = Counter((a.label, b.label) for a, b in zip(gold, predicted, strict=True))
        labels = sorted(set(chain.from_iterable(pairs)))
        rows = [[pairs[label, other] for other in labels] for label in labels]
        return [["gold", "pairs", *(f"as {label}" for label in labels)]] + [
            [label, str(sum(row)), *map(str, row)] for label, row in zip(labels, rows, strict=True)
        ]


def _inference(premise: str, hypothesis: str, label: str) -> Inference:
    return Inference(premise=tuple(premise.split(" ")), hypothesis=tuple(hypothesis.split(" ")), label=label)


def _pairs(path: Path, *, language: str) -> list[tuple[str, InferencePair]]:
    lines = list(LineFile(path))
    if not lines:
        raise IsoglotError(f"{path}: the file is empty; it should hold a premise, a hypothesis and a label a line")
    if is_official_header(lines[0]):
        official = official_pairs(lines, path=path, language=language)
        return [(f"{path}: pair {pair_id} of {language}", pair) for pair_id, pair in official.items()]
    return [(f"{path}:{number}", pair) for number, pair in inference_pairs(lines, path=path).items()]


TASK = Nli()
