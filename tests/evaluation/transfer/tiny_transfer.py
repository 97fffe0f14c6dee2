"""Tasks in words of a few letters, and models of a few thousand weights that can learn them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.readers.bio_files import TaggedSentence
from isoglot.corpora.readers.conllu import Tree
from isoglot.corpora.sentences import Encoding
from isoglot.corpora.vocabulary import PAD, Vocabulary, build_vocabulary
from isoglot.evaluation.transfer.fine_tuning import FineTuner
from isoglot.evaluation.transfer.predictions import predictions
from isoglot.evaluation.transfer.run import FineTuningRun
from isoglot.evaluation.transfer.sequences import encoded
from isoglot.evaluation.transfer.task import Task
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.evaluation.transfer.tasks.nli import Inference
from isoglot.machine import Machine
from isoglot.model.encoder import Encoder
from isoglot.study.conditions import TableKind
from isoglot.study.scales import NormPlacement
from isoglot.study.searches import Schedule
from isoglot.study.separate import Separate
from tests.model.tiny_models import tiny_shape

CPU = Machine(device=torch.device("cpu"))
NER, NLI, PARSING, POS = map(task_named, ("ner", "nli", "parsing", "pos"))
LETTERS = "abcdefghij"
TAGS = {"a": "B-PER", "b": "I-PER", "c": "B-LOC"}
LABELS = ("entailment", "neutral", "contradiction")
EVERYTHING = Separate(embeddings=True, layers=frozenset({1, 2}))
SHAPE = replace(tiny_shape(NormPlacement.PRE), layers=2, width=16, heads=2, feed_forward=32, positions=40)
RUN = FineTuningRun(
    language="en",
    batch=4,
    learning_rate=5e-3,
    head_learning_rate=2e-2,
    epochs=3,
    epoch_examples=None,
    schedule=Schedule.LINEAR,
    warmup_share=0.25,
    beta2=0.99,
    most_tokens=16,
    freeze_encoder=False,
    seed=0,
)


def vocabulary() -> Vocabulary:
    """One table for both languages."""
    letters = Counter(letter + end for letter in LETTERS for end in ("", "</w>"))
    return build_vocabulary(TableKind.JOINT, counts={"en": letters, "fr": letters})


def letter_encoding(language: str = "en") -> Encoding:
    """Each letter of a word is a token."""
    return Encoding(language=language, bpe=Bpe(merges=()), vocabulary=vocabulary())


def tiny_encoder(
    *, separate: Separate | None = None, dropout: float = 0.0, noise: float = 0.1, seed: int = 0
) -> Encoder:
    """In evaluation mode; norms and biases are random as well, and with much noise no two inputs look alike."""
    size = vocabulary().size("en")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder = Encoder(
            replace(SHAPE, dropout=dropout, attention_dropout=dropout),
            table_sizes={"en": size, "fr": size},
            separate=separate or Separate(),
            pad_id=PAD,
        )
        with torch.no_grad():
            for parameter in encoder.parameters():
                parameter.add_(torch.randn_like(parameter), alpha=noise)
    return encoder.eval()


def random_words(random: np.random.Generator, *, count: int, longest: int = 3) -> tuple[str, ...]:
    return tuple("".join(random.choice(list(LETTERS), random.integers(1, longest + 1))) for _ in range(count))


def tagged_sentences(count: int, *, seed: int = 0, most_words: int = 5) -> list[TaggedSentence]:
    """The first letter of a word decides its tag."""
    random = np.random.default_rng(seed)
    lines = [random_words(random, count=random.integers(1, most_words + 1)) for _ in range(count)]
    return [TaggedSentence(words=words, tags=tuple(TAGS.get(word[0], "O") for word in words)) for words in lines]


def inferences(count: int, *, seed: int = 0, most_words: int = 3) -> list[Inference]:
    """The first letter of the premise decides the label."""
    random = np.random.default_rng(seed)
    pairs = [
        [random_words(random, count=random.integers(1, most_words + 1)) for _ in ("premise", "hypothesis")]
        for _ in range(count)
    ]
    return [
        Inference(premise=premise, hypothesis=hypothesis, label=LABELS[LETTERS.index(premise[0][0]) % 3])
        for premise, hypothesis in pairs
    ]


def unlearned_pairs() -> tuple[list[Inference], list[Inference]]:
    """To train on and to choose by: a model that has only learned which label is frequent is the best on the latter."""
    pairs = inferences(80)
    train = [replace(pair, label="entailment" if pair.premise[0][0] in "ab" else "neutral") for pair in pairs]
    return train, [replace(pair, label="neutral") for pair in train if pair.label == "entailment"]


def chain_trees() -> list[Tree]:
    """The root is anywhere, and a word's relation names the side of its head."""
    random = np.random.default_rng(0)
    trees = []
    for size in range(1, 7):
        root = int(random.integers(1, size + 1))
        heads = [0 if word == root else word + (1 if word < root else -1) for word in range(1, size + 1)]
        relations = ["root" if head == 0 else "left" if head > word else "right" for word, head in enumerate(heads, 1)]
        words = random_words(random, count=size)
        trees.append(Tree(words=words, upos=("X",) * size, heads=tuple(heads), relations=tuple(relations)))
    return trees


def tuner_of(folder: Path, *, run: FineTuningRun = RUN, task: Task[Any] = NER, **given: Any) -> FineTuner:
    """On a few tagged sentences, unless other examples are given, or another encoder or machine."""
    encoder = given.pop("encoder", None) or tiny_encoder()
    examples = {"train": tagged_sentences(18), "dev": tagged_sentences(10, seed=1), "machine": CPU}
    return FineTuner(run, task, encoder=encoder, encoding=letter_encoding(), folder=folder, **(examples | given))


def labelled(
    task: Task[Any], examples: Sequence[Any], *, most_tokens: int = 40, language: str = "en", **model_and_labels: Any
) -> list[Any]:
    """The examples with a model's labels."""
    sequences = encoded(task, examples, encoding=letter_encoding(language), most_tokens=most_tokens)
    return predictions(task, examples, sequences, language=language, machine=CPU, **model_and_labels)


def silent(done: int, updates: int) -> None:
    """A report to nobody."""


def weights_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """A copy of each, by name."""
    return {name: tensor.clone() for name, tensor in module.state_dict().items()}
