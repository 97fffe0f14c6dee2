"""Parallel sentences say the same and are new to models; dictionaries keep every entry and weight."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from isoglot.corpora.synthetic import dictionary, draw_meanings, realise
from isoglot.errors import MissingDataError
from isoglot.pipeline.sources import sources
from isoglot.pipeline.stages.source_files import source_file
from isoglot.pipeline.stages.text import LINES, SyntheticText, read_lines
from isoglot.pipeline.stages.translations import (
    AnyDictionary,
    DictionaryFile,
    DictionaryPart,
    ParallelFiles,
    SyntheticDictionary,
    SyntheticParallelText,
    SyntheticParaphrases,
    dictionary_entries,
    parallel_lines,
    word_pairs,
)
from isoglot.study.conditions import Domain
from isoglot.study.languages import PRIME, Splitter, WordSplitting
from isoglot.study.study_file import parse_study
from isoglot.study.synthetic_languages import Script, SyntheticLanguage, World
from tests.pipeline.making import failure, made
from tests.tiny_worlds import TINY_WORLD

ELA = SyntheticLanguage(name="ela", cognates=0.2)
ORU = SyntheticLanguage(name="oru", cognates=0.2, script=Script.CYRILLIC)


def parallel_text(world: World, *, sentences: int = 100, text_sentences: int = 1000) -> SyntheticParallelText:
    ours, theirs = (
        SyntheticText(world=world, language=language, domain=Domain.MAIN, sentences=text_sentences)
        for language in (ELA, ORU)
    )
    return SyntheticParallelText(world=world, languages=(ELA, ORU), texts=(ours, theirs), sentences=sentences)


@pytest.mark.parametrize("text_sentences", [2, 1000])
def test_no_sentence_has_two_right_answers_or_was_read_in_training(text_sentences: int, tmp_path: Path) -> None:
    """Beside a large text, most repeated sentences are in the text as well."""
    stage = parallel_text(TINY_WORLD, text_sentences=text_sentences)
    store = made(stage, folder=tmp_path)
    for language, text in zip((ELA, ORU), stage.texts, strict=True):
        lines = parallel_lines(store.folder(stage), language.name)
        assert len(lines) == len(set(lines)) == 100
        assert set(read_lines(store.folder(text) / LINES)).isdisjoint(lines)
    # By chance this would not hold.
    assert len(set(realise(draw_meanings(TINY_WORLD, count=100, seed=0), ELA, world=TINY_WORLD))) < 100


def test_lines_translate_each_other_word_by_word(tmp_path: Path) -> None:
    stage = parallel_text(World())
    folder = made(stage, folder=tmp_path).folder(stage)
    pairs = set(dictionary(ELA, ORU, world=World()))
    has_entry = {a for a, _ in pairs}
    # The two languages order their words alike. Words without an entry, such as symbols, are spelled alike in both.
    for ours, theirs in zip(parallel_lines(folder, "ela"), parallel_lines(folder, "oru"), strict=True):
        for a, b in zip(ours.split(), theirs.split(), strict=True):
            assert (a, b) in pairs if a in has_entry else a == b
    assert len(pairs) > 100


def test_texts_for_maps_have_no_sentence_of_retrieval(tmp_path: Path) -> None:
    retrieval = parallel_text(TINY_WORLD, text_sentences=2)
    anyhow = replace(retrieval, purpose="mapping", sentences=150)
    mapping = replace(anyhow, apart_from=(retrieval,))
    store = made(mapping, anyhow, folder=tmp_path)
    for language in ("ela", "oru"):
        tests = set(parallel_lines(store.folder(retrieval), language))
        assert len(set(parallel_lines(store.folder(mapping), language)) - tests) == 150
        assert tests & set(parallel_lines(store.folder(anyhow), language))


def test_paraphrases_are_in_the_same_language_and_mostly_the_same_words(tmp_path: Path) -> None:
    text = SyntheticText(world=World(), language=ELA, domain=Domain.MAIN, sentences=1000)
    stage = SyntheticParaphrases(world=World(), language=ELA, text=text, sentences=200)
    store = made(stage, folder=tmp_path)
    sentences, paraphrases = (parallel_lines(store.folder(stage), name) for name in ("ela", "ela-prime"))
    assert sum(a != b for a, b in zip(sentences, paraphrases, strict=True)) > 100
    trained_on = set(read_lines(store.folder(text) / LINES))
    for lines in (sentences, paraphrases):
        assert len(set(lines) - trained_on) == 200
    words = {word for line in sentences for word in line.split()}
    kept = sum(len({*a.split()} & {*b.split()}) for a, b in zip(sentences, paraphrases, strict=True))
    assert kept > 0.6 * sum(len({*line.split()}) for line in sentences)
    assert len({word for line in paraphrases for word in line.split()} - words) < 0.1 * len(words)


def parallel_files(folder: Path, texts: dict[str, list[str]]) -> ParallelFiles:
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    files = tuple(source_file(folder / name, wanted_by="here") for name in texts)
    return ParallelFiles(files=files, languages=("en", "fr"))


def test_files_come_in_pairs(tmp_path: Path) -> None:
    stage = parallel_files(
        tmp_path, {"a.en": ["one", "two"], "a.fr": ["un", "deux"], "b.en": ["three"], "b.fr": ["trois"]}
    )
    folder = made(stage, folder=tmp_path / "store").folder(stage)
    assert parallel_lines(folder, "en") == ["one", "two", "three"]
    assert parallel_lines(folder, "fr") == ["un", "deux", "trois"]
    made(parallel_files(tmp_path, {"a.en": ["one", "twelve"], "a.fr": ["un", "douze"]}), folder=tmp_path / "store")


def test_files_that_are_no_translations_are_refused(tmp_path: Path) -> None:
    meanings = draw_meanings(World(), count=300, seed=0)
    ours, theirs = (realise(meanings, language, world=World()) for language in (ELA, ORU))
    made(parallel_files(tmp_path, {"a.en": ours, "a.fr": theirs}), folder=tmp_path / "store")
    error = failure(parallel_files(tmp_path, {"a.en": ours, "b.fr": sorted(theirs)}), tmp_path / "store")
    assert "b.fr: these do not look like translations of each other: over 300 lines" in error
    error = failure(parallel_files(tmp_path, {"a.en": ours, "c.fr": [*ours[:151], *theirs[151:]]}), tmp_path / "store")
    assert re.search(
        r"c\.fr: these do not look .*: 15\d of 300 lines are the same in both; .* or name the other", error
    )
    stage = parallel_files(tmp_path, {"a.en": ours, "c.fr": [*ours[:151], *theirs[151:]]})
    made(replace(stage, languages=("en", f"en{PRIME}")), folder=tmp_path / "store")


def test_a_world_with_too_few_meanings_is_refused(tmp_path: Path) -> None:
    world = World(nouns=1, verbs=1, adjectives=1, adpositions=1, determiners=1, people=2, places=1, organisations=1)
    error = failure(parallel_text(world, sentences=5000), tmp_path)
    assert error.endswith("lower synthetic.parallel_sentences or enlarge the world")


def dictionary_file(folder: Path, text: str) -> DictionaryFile:
    (folder / "en-fr.tsv").write_text(text, encoding="utf-8")
    return DictionaryFile(file=source_file(folder / "en-fr.tsv", wanted_by="here"), languages=("en", "fr"))


def entries_of(stage: AnyDictionary, folder: Path) -> list[tuple[str, str, float]]:
    entries = dictionary_entries(made(stage, folder=folder).folder(stage))
    return [(each.source, each.target, each.weight) for each in entries]


def test_a_file_keeps_its_weights_and_its_word_pairs_are_one_word_on_either_side(tmp_path: Path) -> None:
    stage = dictionary_file(tmp_path, "well done\tbravo\t2\nwell\tpuits\t0.1\nit's\tc'est\t1\nThen\tPuis\t3\n")
    entries = [("well done", "bravo", 2.0), ("well", "puits", 0.1), ("it's", "c'est", 1.0), ("Then", "Puis", 3.0)]
    assert entries_of(stage, tmp_path / "store") == entries
    folder = made(stage, folder=tmp_path / "store").folder(stage)
    for lowercase, pair in ((False, ("Then", "Puis", 3.0)), (True, ("then", "puis", 3.0))):
        splittings = {
            code: WordSplitting(splitter=Splitter.MOSES, language=code, lowercase=lowercase) for code in ("en", "fr")
        }
        assert list(word_pairs(folder, stage.names, splittings)) == [("well", "puits", 0.1), pair]


def test_a_synthetic_dictionary_is_that_of_its_world_and_maps_are_not_scored_on_fitted_words(tmp_path: Path) -> None:
    whole = SyntheticDictionary(world=World(), languages=(ELA, ORU))
    entries = entries_of(whole, tmp_path)
    assert entries == [(a, b, 1.0) for a, b in dictionary(ELA, ORU, world=World())]
    fit, test = (
        entries_of(DictionaryPart(dictionary=whole, is_for_fitting=is_for_fitting, seed=3), tmp_path)
        for is_for_fitting in (True, False)
    )
    assert sorted((*fit, *test), key=entries.index) == entries
    assert {source for source, _, _ in fit}.isdisjoint(source for source, _, _ in test)
    assert len(fit) == pytest.approx(0.7 * len(entries), abs=5)
    assert fit != entries[: len(fit)]


def test_words_that_are_asked_for_are_no_extra_anchors_and_their_file_must_be_there(tmp_path: Path) -> None:
    for name in ("en.txt", "fr.txt"):
        (tmp_path / name).write_text("a line\n")
    text = 'name = "real"\nscale = "demo"\nlanguages = ["en", "fr"]\n[text]\nen = "en.txt"\nfr = "fr.txt"\n'
    named = text + '[resources]\nword-translation.en-fr = "muse.txt"\n'

    def held_out(study: str) -> int:
        return len(sources(parse_study(study, origin="real.toml", data=tmp_path)).held_out_words(("en", "fr")))

    assert held_out(text) == 0
    with pytest.raises(MissingDataError, match=r"muse\.txt: No such file"):
        held_out(named)
    (tmp_path / "muse.txt").write_text("dog chien\n")
    assert held_out(named) == 1
