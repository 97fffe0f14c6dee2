"""Parallel sentences say the same, each a thing of its own that no text says."""

from dataclasses import replace
from pathlib import Path

from isoglot.corpora.synthetic import dictionary, draw_meanings, realise
from isoglot.errors import IsoglotError
from isoglot.pipeline.stages.parallel_text import (
    ParallelFiles,
    SyntheticParallelText,
    SyntheticParaphrases,
    parallel_lines,
)
from isoglot.pipeline.stages.source_files import source_file
from isoglot.pipeline.stages.text import LINES, SyntheticText, read_lines
from isoglot.store import Store, run_plan
from isoglot.study.conditions import Domain
from isoglot.study.synthetic_languages import Script, SyntheticLanguage, World

ELA = SyntheticLanguage(name="ela", cognates=0.2)
ORU = SyntheticLanguage(name="oru", cognates=0.2, script=Script.CYRILLIC)


def parallel_text(world: World, *, sentences: int = 100, text_sentences: int = 1000) -> SyntheticParallelText:
    texts = tuple(
        SyntheticText(world=world, language=language, domain=Domain.MAIN, sentences=text_sentences)
        for language in (ELA, ORU)
    )
    return SyntheticParallelText(world=world, languages=(ELA, ORU), texts=texts, sentences=sentences)


def made(stage: SyntheticParallelText, store: Store) -> Path:
    assert run_plan([stage], store).failed == {}
    return store.folder(stage)


def test_no_sentence_has_two_right_answers_or_was_read_in_training(tiny_world: World, tmp_path: Path) -> None:
    store = Store(tmp_path)
    # Beside a large text, what is said twice is mostly in the text as well.
    for text_sentences in (2, 1000):
        stage = parallel_text(tiny_world, text_sentences=text_sentences)
        folder = made(stage, store)
        for language, text in zip((ELA, ORU), stage.texts, strict=True):
            lines = parallel_lines(folder, language.name)
            assert len(lines) == len(set(lines)) == 100
            assert set(read_lines(store.folder(text) / LINES)).isdisjoint(lines)
    # Which would not be so by chance.
    drawn = realise(draw_meanings(tiny_world, count=100, seed=0), ELA, world=tiny_world)
    assert len(set(drawn)) < 100
    assert not set(read_lines(store.folder(stage.texts[0]) / LINES)).isdisjoint(drawn)


def test_lines_translate_each_other_word_by_word(tmp_path: Path) -> None:
    folder = made(parallel_text(World()), Store(tmp_path))
    pairs = dictionary(ELA, ORU, world=World())
    translations: dict[str, set[str]] = {}
    for a, b in pairs:
        translations.setdefault(a, set()).add(b)
    # The two languages order their words alike. Words without an entry (symbols, say) are spelled alike in both.
    for ours, theirs in zip(parallel_lines(folder, "ela"), parallel_lines(folder, "oru"), strict=True):
        for a, b in zip(ours.split(), theirs.split(), strict=True):
            assert b in translations.get(a, {a})
    assert len(pairs) > 100


def test_texts_for_maps_have_no_sentence_of_retrieval(tiny_world: World, tmp_path: Path) -> None:
    store, retrieval = Store(tmp_path), parallel_text(tiny_world, text_sentences=2)
    mapping = replace(retrieval, purpose="mapping", apart_from=(retrieval,), sentences=150)
    folder = made(mapping, store)
    for language in ("ela", "oru"):
        kept = parallel_lines(folder, language)
        assert len(set(kept)) == 150
        assert set(kept).isdisjoint(parallel_lines(store.folder(retrieval), language))
    # Which would not be so by chance.
    apart = replace(retrieval, purpose="mapping", sentences=150)
    assert not set(parallel_lines(made(apart, store), "ela")).isdisjoint(parallel_lines(store.folder(retrieval), "ela"))


def test_paraphrases_are_in_the_same_language_and_mostly_the_same_words(tmp_path: Path) -> None:
    text = SyntheticText(world=World(), language=ELA, domain=Domain.MAIN, sentences=1000)
    store, stage = Store(tmp_path), SyntheticParaphrases(world=World(), language=ELA, text=text, sentences=200)
    assert run_plan([stage], store).failed == {}
    said, otherwise = (parallel_lines(store.folder(stage), name) for name in ("ela", "ela-prime"))
    assert len(said) == len(otherwise) == 200
    assert sum(a != b for a, b in zip(said, otherwise, strict=True)) > 100
    trained_on = set(read_lines(store.folder(text) / LINES))
    for lines in (said, otherwise):
        assert len(set(lines)) == 200
        assert trained_on.isdisjoint(lines)
    words = {word for line in said for word in line.split()}
    kept = sum(len({*a.split()} & {*b.split()}) for a, b in zip(said, otherwise, strict=True))
    assert kept > 0.6 * sum(len({*line.split()}) for line in said)
    assert len({word for line in otherwise for word in line.split()} - words) < 0.1 * len(words)


def test_files_come_by_twos(tmp_path: Path) -> None:
    for name, text in {"a.en": "one\ntwo\n", "a.fr": "un\ndeux\n", "b.en": "three\n", "b.fr": "trois\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = tuple(source_file(tmp_path / name, wanted_by="here") for name in ("a.en", "a.fr", "b.en", "b.fr"))
    stage, store = ParallelFiles(files=files, languages=("en", "fr")), Store(tmp_path / "store")
    assert run_plan([stage], store).failed == {}
    assert parallel_lines(store.folder(stage), "en") == ["one", "two", "three"]
    assert parallel_lines(store.folder(stage), "fr") == ["un", "deux", "trois"]


def test_files_that_are_no_translations_are_refused(tmp_path: Path) -> None:
    lines = realise(draw_meanings(World(), count=300, seed=0), ELA, world=World())
    others = realise(draw_meanings(World(), count=300, seed=0), ORU, world=World())
    for name, text in {"a.en": lines, "a.fr": others, "b.fr": sorted(others)}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in text), encoding="utf-8")
    outcomes = []
    for name in ("a.fr", "b.fr"):
        files = tuple(source_file(tmp_path / each, wanted_by="here") for each in ("a.en", name))
        outcomes.append(run_plan([ParallelFiles(files=files, languages=("en", "fr"))], Store(tmp_path / "store")))
    assert outcomes[0].failed == {}
    (error,) = outcomes[1].failed.values()
    assert "b.fr: these do not look like translations of each other: over 300 lines" in str(error)


def test_a_world_with_too_little_to_say_is_refused(tmp_path: Path) -> None:
    world = World(nouns=1, verbs=1, adjectives=1, adpositions=1, determiners=1, people=2, places=1, organisations=1)
    stage = parallel_text(world, sentences=5000)
    (error,) = run_plan([stage], Store(tmp_path)).failed.values()
    assert isinstance(error, IsoglotError)
    assert str(error).endswith("lower synthetic.parallel_sentences or enlarge the world")
