"""Parallel sentences say the same, each a thing of its own that no text says."""

from pathlib import Path

from isoglot.artifacts import Store, run_plan
from isoglot.conditions import Domain
from isoglot.errors import IsoglotError
from isoglot.stages.parallel_text import SyntheticParallelText, parallel_lines
from isoglot.stages.text import LINES, SyntheticText, read_lines
from isoglot.synthetic import dictionary, draw_meanings, realise
from isoglot.synthetic_languages import Script, SyntheticLanguage, World

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


def test_a_world_with_too_little_to_say_is_refused(tmp_path: Path) -> None:
    world = World(nouns=1, verbs=1, adjectives=1, adpositions=1, determiners=1, people=2, places=1, organisations=1)
    stage = parallel_text(world, sentences=5000)
    (error,) = run_plan([stage], Store(tmp_path)).failed.values()
    assert isinstance(error, IsoglotError)
    assert str(error).endswith("lower synthetic.parallel_sentences or enlarge the world")
