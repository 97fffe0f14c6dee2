"""Links of parallel sentences as an artifact, by our model or by the user's program."""

import sys
from dataclasses import replace
from pathlib import Path

from isoglot.corpora.synthetic import lexicon as dictionary
from isoglot.corpora.words import splitter_version
from isoglot.errors import IsoglotError
from isoglot.pipeline.stages.parallel_text import SyntheticParallelText, parallel_lines
from isoglot.pipeline.stages.text import SyntheticText
from isoglot.pipeline.stages.word_alignments import LINKS, WordAlignments, read_links
from isoglot.store import Store, run_plan
from isoglot.study.conditions import Domain
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.synthetic_languages import Script, Side, SyntheticLanguage, World

ELA = SyntheticLanguage(name="ela")
ORU = SyntheticLanguage(name="oru", script=Script.CYRILLIC, adjectives=Side.AFTER)
LAST_WORDS = """
import sys
for line in sys.stdin:
    source, target = (side.split() for side in line.split("|||"))
    print(f"{len(source) - 1}-{len(target) - 1}")
"""


def alignments(world: World) -> WordAlignments:
    texts = tuple(
        SyntheticText(world=world, language=language, domain=Domain.MAIN, sentences=2) for language in (ELA, ORU)
    )
    splittings = {name: WordSplitting(splitter=Splitter.WHITESPACE, language=name) for name in ("ela", "oru")}
    return WordAlignments(
        parallel=SyntheticParallelText(world=world, languages=(ELA, ORU), texts=texts, sentences=500),
        languages=("ela", "oru"),
        splittings=splittings,
        splitter_versions={name: splitter_version(splitting) for name, splitting in splittings.items()},
        aligner=(),
    )


def made(stage: WordAlignments, store: Store) -> Path:
    assert run_plan([stage], store).failed == {}
    return store.folder(stage)


def test_linked_words_translate_each_other(tmp_path: Path) -> None:
    store, stage = Store(tmp_path), alignments(World())
    links = read_links(made(stage, store))
    source, target = (parallel_lines(store.folder(stage.parallel), name) for name in stage.languages)
    translations = set(dictionary(ELA, ORU, world=World())) | {(".", ".")}
    linked = [(a.split()[i], b.split()[j]) for a, b, found in zip(source, target, links, strict=True) for i, j in found]
    assert sum(pair in translations for pair in linked) > 0.9 * len(linked)
    assert len(linked) > 0.9 * sum(len(line.split()) for line in source)


def test_source_words_come_first_whichever_language_is_the_source(tmp_path: Path) -> None:
    stage = alignments(World())
    there = read_links(made(stage, Store(tmp_path)))
    back = read_links(made(replace(stage, languages=("oru", "ela")), Store(tmp_path)))
    same = sum(len(set(a) & {(i, j) for j, i in b}) for a, b in zip(there, back, strict=True))
    assert same > 0.95 * sum(map(len, there))
    assert any(i != j for links in there for i, j in links)


def test_a_program_of_the_user_takes_the_place_of_our_model(tmp_path: Path) -> None:
    stage = replace(alignments(World()), aligner=(sys.executable, "-c", LAST_WORDS))
    store = Store(tmp_path)
    folder = made(stage, store)
    lengths = [len(line.split()) for line in parallel_lines(store.folder(stage.parallel), "ela")]
    assert (folder / LINKS).read_text() == "".join(f"{length - 1}-{length - 1}\n" for length in lengths)
    assert read_links(folder) == [[(length - 1, length - 1)] for length in lengths]


def test_a_program_that_fails_fails_the_stage_in_words(tmp_path: Path) -> None:
    stage = replace(alignments(World()), aligner=("no-such-aligner",))
    (error,) = run_plan([stage], Store(tmp_path)).failed.values()
    assert isinstance(error, IsoglotError)
    assert "'no-such-aligner' was not found" in str(error)


def test_whatever_decides_about_links_makes_other_links() -> None:
    stage = alignments(World())
    splitting = stage.splittings["oru"]
    others = (
        replace(stage, languages=("oru", "ela")),
        replace(stage, splittings={**stage.splittings, "oru": replace(splitting, lowercase=True)}),
        replace(stage, splitter_versions={**stage.splitter_versions, "oru": "2"}),
        replace(stage, aligner=("fast",)),
        replace(stage, aligner=("fast",), aligner_version="2"),
    )
    assert len({each.digest for each in (stage, *others)}) == 6
