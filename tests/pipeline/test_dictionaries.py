"""Dictionaries keep every entry and weight, made up or read."""

from pathlib import Path

import pytest

from isoglot.corpora.readers.dictionaries import DictionaryEntry
from isoglot.corpora.synthetic import lexicon as dictionary
from isoglot.pipeline.stages.dictionaries import (
    DictionaryFile,
    DictionaryPart,
    SyntheticDictionary,
    dictionary_entries,
    word_pairs,
)
from isoglot.pipeline.stages.source_files import source_file
from isoglot.store import Store, run_plan
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.synthetic_languages import SyntheticLanguage, World


def made(stage: DictionaryFile | DictionaryPart | SyntheticDictionary, folder: Path) -> list[DictionaryEntry]:
    store = Store(folder / "store")
    assert run_plan([stage], store).failed == {}
    return dictionary_entries(store.folder(stage))


def test_a_file_keeps_its_weights(tmp_path: Path) -> None:
    path = tmp_path / "en-fr.tsv"
    path.write_text("well done\tbravo\t2\nwell\tpuits\t1\nwell\tbien\t0.1\n", encoding="utf-8")
    stage = DictionaryFile(file=source_file(path, wanted_by="here"), languages=("en", "fr"))
    assert [(each.source, each.target, each.weight) for each in made(stage, tmp_path)] == [
        ("well done", "bravo", 2.0),
        ("well", "puits", 1.0),
        ("well", "bien", 0.1),
    ]
    assert stage.names == ("en", "fr")


def test_word_pairs_are_one_word_on_either_side(tmp_path: Path) -> None:
    path = tmp_path / "en-fr.tsv"
    path.write_text("well done\tbravo\t2\nwell\tpuits\t1\nit's\tc'est\t1\nThen\tPuis\t3\n", encoding="utf-8")
    stage = DictionaryFile(file=source_file(path, wanted_by="here"), languages=("en", "fr"))
    made(stage, tmp_path)
    folder = Store(tmp_path / "store").folder(stage)
    for lowercase, pair in ((False, ("Then", "Puis", 3.0)), (True, ("then", "puis", 3.0))):
        splittings = {
            code: WordSplitting(splitter=Splitter.MOSES, language=code, lowercase=lowercase) for code in ("en", "fr")
        }
        assert list(word_pairs(folder, stage.names, splittings)) == [("well", "puits", 1.0), pair]


def test_a_bad_row_is_named_and_nothing_is_made(tmp_path: Path) -> None:
    path = tmp_path / "en-fr.tsv"
    path.write_text("well\tbien\t1\nwell\tpuits\tmany\n", encoding="utf-8")
    stage = DictionaryFile(file=source_file(path, wanted_by="here"), languages=("en", "fr"))
    store = Store(tmp_path / "store")
    (error,) = run_plan([stage], store).failed.values()
    assert str(error).startswith(f"{path}:2: the weight must be a number above 0")
    assert not store.has(stage)


def test_what_maps_are_fitted_on_does_not_score_them(tmp_path: Path) -> None:
    ela, oru = SyntheticLanguage(name="ela"), SyntheticLanguage(name="oru")
    whole = SyntheticDictionary(world=World(), languages=(ela, oru))
    fit, test = (
        made(DictionaryPart(dictionary=whole, is_for_fitting=is_for_fitting, seed=3), tmp_path)
        for is_for_fitting in (True, False)
    )
    entries = made(whole, tmp_path)
    assert sorted((*fit, *test), key=entries.index) == entries
    assert {each.source for each in fit}.isdisjoint(each.source for each in test)
    assert len(fit) == pytest.approx(0.7 * len(entries), abs=5)
    assert [each.source for each in fit] != [each.source for each in entries[: len(fit)]]


def test_made_up_words_translate_as_their_world_says(tmp_path: Path) -> None:
    ela, oru = SyntheticLanguage(name="ela"), SyntheticLanguage(name="oru")
    stage = SyntheticDictionary(world=World(), languages=(ela, oru))
    entries = made(stage, tmp_path)
    assert [(each.source, each.target) for each in entries] == dictionary(ela, oru, world=World())
    assert {each.weight for each in entries} == {1.0}
    assert stage.names == ("ela", "oru")
