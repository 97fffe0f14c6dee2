"""Study files that are wrong: each error names the file, the key and what would be right."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from study_texts import SMALLEST, study_text

from isoglot.errors import IsoglotError, suggestion
from isoglot.study.exhibit_names import EXHIBITS
from isoglot.study.study import KEYS, parse_study


def problem(text: str) -> str:
    """What a wrong study says, without the file's name, which always comes first."""
    with pytest.raises(IsoglotError) as caught:
        parse_study(text, origin="mine.toml")
    file, _, message = str(caught.value).partition(": ")
    assert file == "mine.toml"
    return message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('name = "mine"\nscale "demo"', "line 2"),
        ('name = "mine"\nname = "other"', "line 2"),
        ('name = "mine"\n\nseeds = [0', "line 3"),
    ],
)
def test_toml_errors_name_the_line(text: str, line: str) -> None:
    assert re.match(rf"not TOML: .*at {line}\b", problem(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (study_text("sedes = [0]"), r"sedes: unknown key; .*did you mean 'seeds'\?"),
        (study_text("change.updaets = 3"), r"change.updaets: unknown key; .*did you mean 'updates'\?"),
        (study_text("change.shape.layer = 3"), r"change.shape.layer: unknown key; .*did you mean 'layers'\?"),
        (study_text('change.name = "other"'), r"change.name: unknown key"),
        (study_text(world="nuons = 3"), r"synthetic.nuons: unknown key; .*did you mean 'nouns'\?"),
        (study_text(ela='ordre = "svo"'), r"synthetic.languages.ela.ordre: unknown key; .*did you mean 'order'\?"),
        (study_text(ela='name = "ela"'), r"synthetic.languages.ela.name: unknown key"),
        (study_text(drop="name"), r"name: this key is missing"),
        (study_text(drop="scale"), r"scale: this key is missing"),
        (study_text(drop="languages"), r"languages: this key is missing"),
        (study_text(drop="sentences"), r"synthetic.sentences: this key is missing"),
    ],
)
def test_unknown_and_missing_keys(text: str, message: str) -> None:
    assert re.match(message, problem(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (study_text('scale = "dmo"', drop="scale"), r"scale: 'dmo' is not one of 'demo', .*did you mean 'demo'\?"),
        (study_text('conditions = ["sep-em"]'), r"conditions: 'sep-em' is not one of .*did you mean 'sep-emb'\?"),
        (study_text('exhibits = ["emergense"]'), r"exhibits: 'emergense' is not one of 'table-1', 'base"),
        (study_text('exhibits = ["table-7"]'), r"exhibits: 'table-7' is not one of .*; did you mean 'table-1'\?"),
        (
            study_text('tasks = ["mnli"]'),
            r"tasks: 'mnli' is not one of 'ner', 'nli', 'parsing', .*did you mean 'nli'\?",
        ),
        (study_text('tasks = ["__init__"]'), r"tasks: '__init__' is not one of"),
        (study_text('change.word_tasks.schedule = "x"'), r"change.word_tasks.schedule: 'x' is not one of 'constant'"),
        (
            study_text(ela='order = "svoo"'),
            r"synthetic.languages.ela.order: 'svoo' is not one of 'svo', 'sov', 'vso'; did",
        ),
        (study_text('change.optimization.decay = "x"'), r"change.optimization.decay: 'x' is not one of [^;]*$"),
        (
            SMALLEST.replace("languages.oru]", "languages.orru]"),
            r"synthetic.languages.orru: this language is not in languages, 'ela', 'oru'; did you mean 'oru'\?",
        ),
        (study_text('name = "My study"', drop="name"), r"name: 'My study' should be lower-case letters"),
        (study_text('languages = ["ela", "a:b"]', drop="languages"), r"languages: 'a:b' should be lower-case letters"),
    ],
)
def test_unknown_names(text: str, message: str) -> None:
    assert re.match(message, problem(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (study_text("name = 3", drop="name"), r"name: should be a string in quotes, not a whole number \(3\)"),
        (study_text("scale = []", drop="scale"), r"scale: should be a string in quotes, not a list"),
        (
            study_text('languages = "ela"', drop="languages"),
            r"languages: should be a list in brackets, not the string 'ela'",
        ),
        (study_text("seeds = 3"), r"seeds: should be a list in brackets, not a whole number \(3\)"),
        (study_text("seeds = [true]"), r"seeds: should be a whole number, not true or false"),
        (study_text("seeds = [0.5]"), r"seeds: should be a whole number, not a number \(0.5\)"),
        (study_text('tasks = "nli"'), r"tasks: should be a list in brackets, not the string 'nli'"),
        (study_text("change.word_tasks = 3"), r"change.word_tasks: should be a table"),
        (study_text("change.word_tasks.batches = 3"), r"change.word_tasks.batches: should be a list in brackets"),
        (study_text("change.word_tasks.batches = [3.5]"), r"change.word_tasks.batches: should be a whole number"),
        (study_text("conditions = [1]"), r"conditions: should be a string in quotes"),
        (study_text("change = 3"), r"change: should be a table"),
        (study_text("change.shape = 3"), r"change.shape: should be a table"),
        (study_text("change.updates = 3.5"), r"change.updates: should be a whole number"),
        (study_text("change.updates = true"), r"change.updates: should be a whole number"),
        (study_text("change.mask_rate = nan"), r"change.mask_rate: should be a finite number"),
        (study_text("change.mask_rate = 2026-11-15"), r"change.mask_rate: should be a number, not date \(2026-11-15\)"),
        (study_text(ela="shared_symbols = 1"), r"synthetic.languages.ela.shared_symbols: should be true or false"),
        (study_text(ela="order = 1"), r"synthetic.languages.ela.order: should be a string in quotes"),
        (study_text(world='nouns = "many"'), r"synthetic.nouns: should be a whole number, not the string 'many'"),
        (SMALLEST.split("[synthetic]")[0] + "synthetic = true", r"synthetic: should be a table"),
        (SMALLEST.split("[synthetic.languages")[0] + "languages = 3", r"synthetic.languages: should be a table"),
        (
            SMALLEST.split("[synthetic.languages")[0] + "languages.ela = 3",
            r"synthetic.languages.ela: should be a table",
        ),
    ],
)
def test_wrong_types(text: str, message: str) -> None:
    assert re.match(message, problem(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (study_text("change.updates = 0"), r"change.updates: should be at least 1, not 0"),
        (
            study_text("change.batch = 4\nchange.language_draws = 5"),
            r"change.language_draws: should be at most batch, 4, not 5",
        ),
        (study_text("change.mask_rate = 1"), r"change.mask_rate: should be above 0 and below 1, not 1.0"),
        (
            study_text("change.shape.heads = 5"),
            r"change.shape.width: should divide by shape.heads: 32 does not divide by 5",
        ),
        (study_text("change.window = 1000"), r"change.window: should be at most shape.positions"),
        (study_text("change.evaluations = 9999"), r"change.evaluations: should be at most updates"),
        (study_text("change.updates = 10"), r"change.optimization.warmup_updates: should be at most updates, 10"),
        (study_text("change.shape.dropout = 1.0"), r"change.shape.dropout: should be at least 0 and below 1"),
        (study_text("change.shape.layers = 2"), r"conditions: 'sep-l1-6': a model of 2 layers is too shallow"),
        (study_text("seeds = [-1]"), r"seeds: should be from 0 to"),
        (study_text(world="nouns = 0"), r"synthetic.nouns: should be at least 1, not 0"),
        (study_text(world="parallel_sentences = 1"), r"synthetic.parallel_sentences: should be at least 2"),
        (study_text(world="train_examples = 1"), r"synthetic.train_examples: should be at least 2, not 1"),
        (study_text(world="dev_examples = 0"), r"synthetic.dev_examples: should be at least 2, not 0"),
        (study_text(world="test_examples = 1"), r"synthetic.test_examples: should be at least 2, not 1"),
        (study_text("change.word_tasks.batches = [8, 0]"), r"change.word_tasks.batches: should be at least 1, not 0"),
        (
            study_text("change.pair_tasks.learning_rates = [1, 0]"),
            r"change.pair_tasks.learning_rates: should be above 0, not 0.0",
        ),
        (study_text("change.pair_tasks.warmup_share = 1"), r"change.pair_tasks.warmup_share: should be at least 0 and"),
        (study_text("change.dev_lines = 3000"), r"synthetic.sentences: should be above 4000, which dev_lines"),
        (study_text(ela="cognates = 1.5"), r"synthetic.languages.ela.cognates: should be from 0 to 1, not 1.5"),
    ],
)
def test_numbers_out_of_range(text: str, message: str) -> None:
    assert re.match(message, problem(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (study_text('languages = ["ela"]', drop="languages"), r"languages: needs at least 2, and has 1"),
        (study_text('languages = ["ela", "ela"]', drop="languages"), r"languages: 'ela' stands there twice"),
        (study_text('conditions = ["default", "default"]'), r"conditions: 'default' stands there twice"),
        (study_text("conditions = []"), r"conditions: needs at least 1, and has 0"),
        (study_text('exhibits = ["emergence", "emergence"]'), r"exhibits: 'emergence' stands there twice"),
        (study_text('tasks = ["nli", "nli"]'), r"tasks: 'nli' stands there twice"),
        (study_text("tasks = []"), r"tasks: needs at least 1, and has 0"),
        (study_text("change.word_tasks.batches = []"), r"change.word_tasks.batches: needs at least 1, and has 0"),
        (study_text("change.word_tasks.batches = [8, 8]"), r"change.word_tasks.batches: 8 stands there twice"),
        (study_text("seeds = [1, 2, 1]"), r"seeds: 1 stands there twice"),
        (study_text("seeds = []"), r"seeds: needs at least 1, and has 0"),
    ],
)
def test_lists_too_short_or_with_duplicates(text: str, message: str) -> None:
    assert re.match(message, problem(text))


def test_a_language_without_text_is_named() -> None:
    without_oru = SMALLEST.replace("[synthetic.languages.oru]", "")
    assert re.match(
        r"synthetic.languages.oru: 'oru' has no text; write the table \[synthetic.lang", problem(without_oru)
    )
    without_any = SMALLEST.split("[synthetic]")[0]
    assert re.match(
        r"'ela', 'oru' have no text.* write a \[text\] table .* a \[synthetic\] table", problem(without_any)
    )
    real = without_any + '[text]\nela = "ela.txt"\n'
    assert re.match(r"text.oru: 'oru' has no text; name its file here", problem(real))


NAMES = st.sampled_from(("ela", "oru", "demo", "default", *EXHIBITS, "", "é"))
VALUES = st.recursive(
    st.booleans() | st.integers(-1, 3) | st.floats() | NAMES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from((*KEYS, "ela", "shape")), inner, max_size=3)
    ),
    max_leaves=6,
)


def as_toml(value: object) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{key} = {as_toml(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(as_toml(item) for item in value) + "]"
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
    return str(value)


@given(table=st.dictionaries(st.sampled_from((*KEYS, "other")), VALUES))
def test_no_file_however_wrong_gets_past_without_naming_it(table: dict[str, object]) -> None:
    right = {"name": "mine", "scale": "demo", "languages": ["ela", "oru"]}
    text = "\n".join(f"{key} = {as_toml(value)}" for key, value in (right | table).items())
    with pytest.raises(IsoglotError, match=r"^mine\.toml: "):
        parse_study(text, origin="mine.toml")


@given(text=st.text(alphabet="ab=[].\"'\n #{},0", max_size=40))
def test_no_text_however_wrong_gets_past_without_naming_it(text: str) -> None:
    with pytest.raises(IsoglotError, match=r"^mine\.toml: "):
        parse_study(text, origin="mine.toml")


@given(word=st.sampled_from(("conditions", "languages", "exhibits", "seeds", "synthetic")), data=st.data())
def test_one_missing_letter_is_understood(word: str, data: st.DataObject) -> None:
    gap = data.draw(st.integers(0, len(word) - 1))
    known = ("conditions", "languages", "exhibits", "seeds", "synthetic")
    assert suggestion(word[:gap] + word[gap + 1 :], known) == f"; did you mean {word!r}?"


def test_no_suggestion_is_better_than_a_far_one() -> None:
    assert suggestion("temperature", ("seeds", "scale")) == ""
