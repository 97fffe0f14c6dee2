"""New layers that learn a task on a frozen layer of the source's model, then read the target's (Figures 5 and 8)."""

# The target's words in context may be mapped to the source's, by maps fitted on linked words of parallel sentences.
# P = words of a text, K = links, D = width

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.word_alignment import Link, pharaoh_line, pharaoh_links
from isoglot.evaluation.transfer.task import Task
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.stages.examples import AnyExamples, read_counts, read_examples
from isoglot.pipeline.stages.fine_tuning import LOG, PLACES, TaskTraining, searched
from isoglot.pipeline.stages.job_sizes import for_reading
from isoglot.pipeline.stages.models import AnyEncoder, chosen_model
from isoglot.pipeline.stages.readers import MAPS, TwoModelStage, parallel_sentences
from isoglot.pipeline.stages.scores import SCORES, Score, scores_of, write_scores
from isoglot.pipeline.stages.text import read_lines, write_lines
from isoglot.pipeline.stages.translations import AnyParallelText, parallel_lines
from isoglot.pipeline.stages.vocabulary import BuiltVocabulary, LearnedBpe
from isoglot.store import NOT_IDENTITY, Resources, Stage, Work
from isoglot.study.languages import WordSplitting
from isoglot.study.searches import NewVectors, Subwords

if TYPE_CHECKING:
    from torch import Tensor

    from isoglot.evaluation.geometry.hidden_states import WordVectors
    from isoglot.evaluation.transfer.fine_tuning import FineTuned
    from isoglot.evaluation.transfer.model import NewLayers
    from isoglot.machine import Machine
    from isoglot.model.encoder import Encoder

LINKS = "links.txt"
LAYERS = "layers.safetensors"


@dataclass(frozen=True, kw_only=True)
class WordAlignments(Stage):
    """Links of fast_align's model or of the user's own program: a Pharaoh line for each sentence pair."""

    kind: ClassVar[str] = "word-alignments"
    leaves: ClassVar[tuple[str, ...]] = (LINKS,)
    titled: ClassVar[str] = "word alignments of {self.languages[0]} and {self.languages[1]}"
    parallel: AnyParallelText
    languages: tuple[str, str]  # the source first
    splittings: Mapping[str, WordSplitting]
    splitter_versions: Mapping[str, str]  # another version of a library may find other words
    aligner: tuple[str, ...] = ()  # a command that replaces our model
    aligner_version: str = ""  # another build of the program may find other links

    def resources(self) -> Resources:
        return Resources(gigabytes=16, hours=8)

    def make(self, work: Work) -> None:
        from isoglot.evaluation.geometry.word_alignment import aligned, externally_aligned

        source, target = (
            split_lines(parallel_lines(work.path(self.parallel), language), self.splittings[language])
            for language in self.languages
        )
        pairs = list(zip(source, target, strict=True))
        links = externally_aligned(pairs, command=self.aligner) if self.aligner else aligned(pairs)
        write_lines(work.folder / LINKS, [pharaoh_line(each) for each in links])


def read_links(folder: Path) -> list[list[Link]]:
    """Places of linked words in each sentence pair, from 0, source first."""
    return [pharaoh_links(line) for line in read_lines(folder / LINKS)]


@dataclass(frozen=True, kw_only=True)
class ContextualMaps(TwoModelStage):
    """A map at every layer, fitted on the linked words of parallel sentences (section 5.1.2)."""

    kind: ClassVar[str] = "contextual-maps"
    leaves: ClassVar[tuple[str, ...]] = (SCORES, MAPS)
    titled: ClassVar[str] = "maps of words in context, {self.label}"
    parallel: AnyParallelText
    links: WordAlignments
    subwords: Subwords
    rounds: int

    def make(self, work: Work) -> None:
        import torch

        from isoglot.evaluation.geometry.hidden_states import word_vectors
        from isoglot.evaluation.geometry.vectors import VectorMap, write_maps

        links = read_links(work.path(self.links))
        maps, scores = [], []
        with self.readers(work) as readers:
            texts = parallel_sentences(work, self.parallel, readers)
            # One layer at a time, as the words of all layers would not fit into memory.
            for layer in range(readers[0].num_states):
                source, target = (
                    word_vectors(reader, sentences, layer=layer, subwords=self.subwords)
                    for reader, sentences in zip(readers, texts, strict=True)
                )
                goal_KD, origin_KD = (each.to(readers[0].device) for each in linked(links, source, target))
                # Departure: vectors are normalised over the words that have links, a word once for each of its links.
                maps.append(VectorMap.fit(origin_KD, goal_KD, rounds=self.rounds))
                mapped_KD = maps[-1].mapped(origin_KD, new_vectors=NewVectors.NORMALIZED)
                compared_KD = maps[-1].compared(goal_KD, new_vectors=NewVectors.NORMALIZED)
                # About 0 for unrelated words.
                cosine = float(torch.cosine_similarity(mapped_KD, compared_KD, dim=1).mean())
                scores.append(Score(metric="link_cosine", layer=layer, value=cosine))
                work.progress(layer + 1, readers[0].num_states, "layers")
        write_maps(maps, work.folder / MAPS)
        counts = {"linked_words": len(origin_KD), "links_read": 100 * len(origin_KD) / sum(map(len, links))}
        write_scores(work.folder, [*scores_of(counts), *scores])


def linked(links: Sequence[Sequence[Link]], source: WordVectors, target: WordVectors) -> tuple[Tensor, Tensor]:
    """Vectors with a link in each row of both; links to words that were cut off their sentence are left out."""
    source_rows, target_rows = (
        {at: row for row, at in enumerate(zip(each.sentence_P.tolist(), each.place_P.tolist(), strict=True))}
        for each in (source, target)
    )
    pairs = [
        (source_rows[number, own], target_rows[number, other])
        for number, sentence_links in enumerate(links)
        for own, other in sentence_links
        if (number, own) in source_rows and (number, other) in target_rows
    ]
    if not pairs:
        raise IsoglotError("no word of the parallel text is linked to a word of the other side; give more sentences")
    source_K, target_K = map(list, zip(*pairs, strict=True))
    return source.vector_PD[source_K], target.vector_PD[target_K]


@dataclass(frozen=True, kw_only=True)
class LayerHead(TaskTraining):
    """The new layers of one setting, with their scores on the source (section 5.1.2)."""

    kind: ClassVar[str] = "layer-head"
    leaves: ClassVar[tuple[str, ...]] = (SCORES, LOG, LAYERS)
    layer: int  # the last frozen layer, counted from 0, the embeddings
    new_layers: int
    bpe: LearnedBpe
    test: AnyExamples

    @property
    def title(self) -> str:
        place = f"{task_named(self.task).title} on layer {self.layer}"
        return f"{place}, {self.label}, batch {self.run.batch}, rate {self.run.learning_rate:g}"

    @property
    def operations_per_token(self) -> int:
        """Frozen layers are passed once, new layers three times."""
        frozen, new = (
            replace(self.encoder.run.shape, layers=layers).num_parameters(table_size=0)
            for layers in (self.layer, self.new_layers)
        )
        return 2 * (frozen + 3 * new)

    @property
    def scored_layer(self) -> int:
        return self.layer

    def learner(self, encoder: Encoder) -> NewLayers:
        from isoglot.evaluation.transfer.model import drawn_layers

        return drawn_layers(encoder, layer=self.layer, count=self.new_layers, seed=self.run.seed)

    def test_scores(self, work: Work, task: Task[Any], tuned: FineTuned, machine: Machine) -> Iterator[Score]:
        from isoglot.evaluation.transfer.model import write_task_layers

        gold = read_examples(task, work.path(self.test))
        tested = self.tested(work, task, gold, tuned, language=self.run.language, machine=machine)
        write_task_layers(tuned.model, work.folder / LAYERS, labels=tuned.labels)
        yield from scores_of(tested.scores, layer=self.layer, language=self.run.language)


@dataclass(frozen=True, kw_only=True)
class LayerTransfer(Stage):
    """Scores in both languages of the setting that is best on the source's dev set."""

    kind: ClassVar[str] = "layer-transfer"
    leaves: ClassVar[tuple[str, ...]] = (SCORES,)
    heads: tuple[LayerHead, ...]  # one for each setting, all of one task on one layer
    language: str  # the target
    encoder: AnyEncoder  # the reader of the target; the encoder of the heads where one model reads both languages
    vocabulary: BuiltVocabulary
    bpe: LearnedBpe
    test: AnyExamples
    maps: ContextualMaps | None  # maps from the target to the source; with None its states are read as they are
    new_vectors: NewVectors | None  # how states are mapped; None where they are not
    label: str = field(metadata=NOT_IDENTITY)

    def __post_init__(self) -> None:
        # Departure: lengths that normalization took away cannot be given back, and task layers learned on raw states.
        if self.new_vectors is NewVectors.NORMALIZED:
            raise IsoglotError(
                "alignment.new_vectors: the layers of a task learned on states as they are and cannot read normalised "
                'ones; take "centred" or "rotated" for Figures 5 and 8'
            )

    @property
    def task(self) -> str:
        return self.heads[0].task

    @property
    def layer(self) -> int:
        return self.heads[0].layer

    @property
    def title(self) -> str:
        mapped = "mapped " if self.maps else ""
        return f"{task_named(self.task).title} transfer from {mapped}layer {self.layer}, {self.label}"

    def resources(self) -> Resources:
        return for_reading(self.encoder.run.shape)

    def make(self, work: Work) -> None:
        from isoglot.evaluation.geometry.vectors import read_maps
        from isoglot.evaluation.transfer.model import NewLayers, read_task_layers
        from isoglot.evaluation.transfer.predictions import evaluate
        from isoglot.machine import this_machine

        task, machine = task_named(self.task), this_machine()
        title, fix = f"{task.title} on layer {self.layer}", "lower change.alignment.layer_tasks.learning_rates"
        by_setting, counts = searched(self.heads, work, title=title, fix=fix)
        best = next(iter(by_setting))
        head, run, mapped = self.heads[best], self.heads[best].run, None
        if self.maps is not None and self.new_vectors is not None:
            maps = read_maps(work.path(self.maps) / MAPS)
            mapped = partial(maps[self.layer].mapped, new_vectors=self.new_vectors)
        own = chosen_model(work.path(self.encoder)).encoder
        encoder = NewLayers(own, layer=self.layer, count=head.new_layers, mapped=mapped)
        model, labels = read_task_layers(work.path(head) / LAYERS, task, encoder=encoder, normed=run.normed)
        with machine.threads_for(num_activations=run.batch * run.most_tokens * encoder.shape.width):
            tested = evaluate(
                task,
                read_examples(task, work.path(self.test)),
                model=model.to(machine.device),
                labels=labels,
                encoding=self.encoder.streams[self.language].encoding(work.path),
                most_tokens=run.most_tokens,
                machine=machine,
            )
        values = {metric: float(value) for metric, value in (tested.scores | read_counts(work.path(self.test))).items()}
        scores = scores_of(values, layer=self.layer, language=self.language)
        scores += by_setting[best] + scores_of({PLACES[0]: best} | counts, layer=self.layer)
        write_scores(work.folder, scores)
