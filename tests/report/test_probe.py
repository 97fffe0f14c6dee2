"""Probes of models whose likeness is known because it was planted, and the files and pages that they write."""

import csv
import json
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import pytest
import torch
from real_data import DATA
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertModel, BertTokenizer

import isoglot as ig
from isoglot.corpora.readers.line_files import LineFile
from isoglot.errors import IsoglotError
from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.probing import BOTH_UNTRAINED
from tests.evaluation.geometry.planted_models import KINDS, WORDS, drawn_lines, write_model, write_texts
from tests.report.html_pages import parsed_page

LAYERS = range(4)
TITLES = ("Sentences without a map", "Sentences after a map", "CKA of parallel sentences")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for kind, cipher in product(KINDS, (False, True)):
        write_model(folder / f"{kind}-{'fr' if cipher else 'en'}", kind, cipher=cipher)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_texts(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def probed(models: Path, data: Path) -> Callable[[str], ig.Probe]:
    """By the kind of model; a probe takes seconds."""
    return cache(lambda kind: ig.probe(models / f"{kind}-en", models / f"{kind}-fr", languages=["en", "fr"], data=data))


def by_layer(probe: ig.Probe, metric: str, variant: str | None = None) -> list[float]:
    found = {each.layer: each.value for each in probe.measurements if (each.metric, each.variant) == (metric, variant)}
    return [found[layer] for layer in LAYERS]


def single(probe: ig.Probe, metric: str) -> float:
    (value,) = {each.value for each in probe.measurements if (each.metric, each.variant) == (metric, None)}
    return value


@pytest.mark.parametrize("kind", KINDS)
def test_a_rotated_copy_is_alike_and_only_a_map_finds_translations(
    kind: str, probed: Callable[[str], ig.Probe]
) -> None:
    found = probed(kind)
    for metric, value in (("cka", 1), ("cka_debiased", 1), ("aligned_retrieval_p1", 100)):
        assert by_layer(found, metric) == pytest.approx([value] * 4, abs=1e-4), metric
    # Each language has its words from other lines, and these lines are random: above the embeddings their words tell
    # ever less of a word. From the same lines it would be 100 at every layer, whatever a model knows of words.
    words = by_layer(found, "contextual_p1")
    assert words[0] == 100
    assert words == sorted(words, reverse=True)
    assert words[-1] < 20
    assert single(found, "retrieval_p1_chance") == 1.25
    # Neurons are shuffled, so that vectors as they are point anywhere.
    assert max(by_layer(found, "retrieval_p1_uncentred")) < 12
    # All words are one token, and the rows of one table are those of the other.
    assert single(found, "embedding_p1") == 100
    assert single(found, "contextual_coverage") == 100
    assert single(found, "contextual_asked") == len(WORDS) // 5
    # Random weights are drawn for each of two models, so that nothing is planted there.
    for variant in (UNTRAINED, BOTH_UNTRAINED):
        assert max(by_layer(found, "aligned_retrieval_p1", variant)) < 60
        assert max(by_layer(found, "cka", variant)) < 0.9
    assert max(by_layer(found, "contextual_p1", BOTH_UNTRAINED)) < 50
    (rows_at_random,) = {
        each.value for each in found.measurements if (each.metric, each.variant) == ("embedding_p1", BOTH_UNTRAINED)
    }
    assert rows_at_random < 50


def test_several_languages_are_each_held_against_the_first(models: Path, data: Path, tmp_path: Path) -> None:
    for language in ("en", "de"):
        (tmp_path / "parallel").mkdir(exist_ok=True)
        (tmp_path / f"parallel/en-de.{language}").write_text((data / "parallel/en-fr.en").read_text())
    for name in ("en", "fr"):
        (tmp_path / f"parallel/en-fr.{name}").write_text((data / f"parallel/en-fr.{name}").read_text())
    found = ig.probe(models / "BERT-en", models / "BERT-fr", languages=["en", "fr", "de"], data=tmp_path)
    assert repr(found).endswith(f"en-fr, en-de, {len(found.measurements)} numbers)")
    mapped = [
        {
            (each.layer): each.value
            for each in found.measurements
            if (each.languages[1], each.metric, each.variant) == of
        }
        for of in (("fr", "aligned_retrieval_p1", None), ("de", "aligned_retrieval_p1", None))
    ]
    assert [*mapped[0].values()] == [100] * 4
    # The model of fr reads en as unknown words.
    assert max(mapped[1].values()) < 30
    assert len([*found.readings()]) == 2
    titles = [str(table.title).partition(",")[0] for table in found.tables()]
    assert titles == [f"{kind} ({pair})" for kind in TITLES for pair in ("en-fr", "en-de")]


def test_each_language_is_read_once_by_each_of_two_models(models: Path, data: Path, tmp_path: Path) -> None:
    """The trained one and the one of random weights: the first language is not read again for each pair."""
    (tmp_path / "parallel").mkdir()
    for pair, language, of in [("fr", "en", "en"), ("fr", "fr", "fr"), ("de", "en", "en"), ("de", "de", "fr")]:
        text = (data / f"parallel/en-fr.{of}").read_text()
        (tmp_path / f"parallel/en-{pair}.{language}").write_text(text)
    (tmp_path / "dictionaries").mkdir()
    (tmp_path / "dictionaries/en-fr.txt").write_text((data / "dictionaries/en-fr.txt").read_text())
    (tmp_path / "dictionaries/en-de.txt").write_text((data / "dictionaries/en-fr.txt").read_text())
    read: list[tuple[str, int]] = []
    found = ig.probe(
        models / "BERT-en", languages=["en", "fr", "de"], data=tmp_path, progress=lambda *call: read.append(call)
    )
    names = [name for name, _ in read]
    assert names == [f"{each}{of}" for each in ("en", "fr", "de") for of in ("", ", random weights")]
    by_pair = [
        [
            (each.exhibit, each.metric, each.variant, each.layer, each.value)
            for each in found.measurements
            if pair == each.languages
        ]
        for pair in (("en", "fr"), ("en", "de"))
    ]
    assert by_pair[0] == by_pair[1]
    assert {each[0] for each in by_pair[0]} == {"emergence", "figure-4", "figure-6", "figure-7"}


def test_numbers_are_the_same_in_every_file_and_the_page_shows_them(
    probed: Callable[[str], ig.Probe], tmp_path: Path
) -> None:
    found = probed("BERT")
    page = found.report(tmp_path / "to/<b>")
    numbers = json.loads((page.parent / "probe.json").read_text())["numbers"]
    assert numbers == [row | {"languages": ["en", "fr"]} for row in found.to_dicts()]
    with (page.parent / "probe.csv").open() as file:
        rows = [*csv.DictReader(file)]
    assert [float(row["value"]) for row in rows] == [each.value for each in found.measurements]
    assert {row["languages"] for row in rows} == {"en-fr"}
    text = page.read_text()
    parsed_page(text)
    for anchor in ("emergence", "figure-6", "figure-7", "figure-4"):
        assert f'<section id="{anchor}">' in text
    for words in (
        "CKA 1.00",
        "100.0% of 80 test sentences",
        "length alone",
        "fr random",
        "both random",
        "24 words asked",
    ):
        assert words in text, words
    assert {path.name for path in (page.parent / "figures").iterdir()} == {
        *("emergence.en-fr.svg", "figure-6.en-fr.svg", "figure-7.en-fr.svg", "figure-4.en-fr.svg", "figure-7.svg"),
    }


def test_what_is_missing_is_named_with_how_to_get_it(models: Path, data: Path, tmp_path: Path) -> None:
    model = models / "BERT-en"
    (tmp_path / "lines.txt").write_text("\n".join(drawn_lines(100)))
    files = (tmp_path / "lines.txt", tmp_path / "lines.txt")
    for arguments, message in (
        ({"languages": ["en", "fr"]}, "data= or parallel= is needed"),
        ({"languages": ["en"], "data": data}, 'name two languages or more, each once, as in languages=["en", "fr"]'),
        ({"languages": ["en"], "parallel": files}, "name two languages or more, each once"),
        ({"languages": ["en", "fr", "en"], "data": data}, "name two languages or more, each once"),
        ({"languages": "en,fr", "data": data}, "name two languages or more, each once"),
        ({"languages": ["en", "fr"], "data": tmp_path / "no"}, f"data=: there is no folder {tmp_path / 'no'}"),
        ({"languages": ["en", "fr"], "parallel": files[:1]}, "parallel=: give two files, one for each language, not ("),
        (
            {"languages": ["en", "fr"], "parallel": files, "new_vectors": "centered"},
            "new_vectors=: is 'centered'; give one of 'centred', 'rotated', 'normalized'",
        ),
        (
            {"languages": ["en", "ru"], "data": data},
            "no parallel sentences of en and ru; put a sentence a line into parallel/en-ru.en and parallel/en-ru.ru "
            f"there, or fetch some with: isoglot data get xnli --languages en,ru --data {data}, or name two files",
        ),
        ({"languages": ["en", "fr", "de"], "parallel": files}, "parallel= and dictionary= are of one pair, and"),
        ({"languages": ["en", "fr"], "parallel": (files[0], tmp_path / "no.txt")}, r"no.txt: "),
        ({"languages": ["en", "fr"], "parallel": files, "dictionary": tmp_path / "no.txt"}, r"no.txt: "),
    ):
        with pytest.raises(IsoglotError) as error:
            ig.probe(model, **arguments)  # type: ignore[arg-type]
        assert message in str(error.value)
    found = ig.probe(model, languages=["fr", "en"], parallel=files)
    assert (
        "100 of 100 lines are the same in both: a model finds these without knowing a second language." in found.notes
    )
    (note,) = [note for note in found.notes if note.startswith("Words are not probed")]
    assert "dictionaries/fr-en.txt" in note
    assert "isoglot data get muse --languages fr" in note
    (tmp_path / "other.txt").write_text("cat chat\ndog chien\n")
    found = ig.probe(model, languages=["en", "fr"], parallel=files, dictionary=tmp_path / "other.txt")
    assert any("no entry of the dictionary has both its words in these sentences" in each for each in found.notes)


TATOEBA = [DATA / f"eval/tatoeba/tatoeba.fra-eng.{code}.gz" for code in ("eng", "fra")]


@pytest.mark.real_data
@pytest.mark.skipif(not TATOEBA[0].is_file(), reason=f"no {TATOEBA[0]}; name the data folder in ISOGLOT_DATA")
def test_a_model_of_random_weights_is_no_better_than_its_floor_on_real_lines(tmp_path: Path) -> None:
    pieces = BertWordPieceTokenizer(lowercase=False, strip_accents=False)
    pieces.train(list(map(str, _plain_copies(tmp_path))), vocab_size=6000, show_progress=False)
    torch.manual_seed(11)
    shape = {"hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 512}
    BertModel(BertConfig(vocab_size=pieces.get_vocab_size(), **shape)).save_pretrained(tmp_path)
    BertTokenizer(vocab=pieces.get_vocab(), do_lower_case=False).save_pretrained(tmp_path)
    dictionary = DATA / "eval/muse/en-fr.txt.gz"
    found = ig.probe(tmp_path, languages=["en", "fr"], parallel=(TATOEBA[0], TATOEBA[1]), dictionary=dictionary)
    for metric, noise in (("aligned_retrieval_p1", 6), ("retrieval_p1", 6), ("cka", 0.05), ("contextual_p1", 5)):
        trained, floor = (max(by_layer(found, metric, variant)[:4]) for variant in (None, BOTH_UNTRAINED))
        assert abs(trained - floor) < noise, metric
    # Names and numbers alone are found above chance, which a floor is there to say; words spelled alike are not asked.
    assert max(by_layer(found, "aligned_retrieval_p1", BOTH_UNTRAINED)) > 10 * single(found, "retrieval_p1_chance")
    assert single(found, "embedding_p1") < 10


def _plain_copies(folder: Path) -> list[Path]:
    copies = []
    for path in TATOEBA:
        with LineFile(path) as file:
            copies.append(folder / f"{path.stem}.txt")
            copies[-1].write_text("\n".join(file), encoding="utf-8")
    return copies


def test_a_dictionary_serves_both_orders_of_its_languages(models: Path, data: Path) -> None:
    there, back = (
        ig.probe(*(models / f"BERT-{name}" for name in order), languages=order, data=data)
        for order in (("en", "fr"), ("fr", "en"))
    )
    assert not any("no dictionary" in note for note in back.notes)
    assert single(back, "contextual_asked") == single(there, "contextual_asked") == len(WORDS) // 5
    assert single(back, "embedding_p1") == 100
