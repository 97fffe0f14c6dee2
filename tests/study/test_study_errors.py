"""Study files that are wrong: each error names the file, the key and what would be right."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from study_texts import SMALLEST, as_toml, study_text

from isoglot.errors import IsoglotError, suggestion
from isoglot.study.exhibit_names import EXHIBITS
from isoglot.study.study_file import KEYS, parse_study


def problem(text: str) -> str:
    """The message of a wrong study, without the file's name, which always comes first."""
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


WRONG_LINES = {
    # Unknown and missing keys.
    "sedes = [0]": r"sedes: unknown key; .*did you mean 'seeds'\?",
    "change.shape.layer = 3": r"change.shape.layer: unknown key; .*did you mean 'layers'\?",
    'change.name = "other"': r"change.name: unknown key",
    # Unknown names.
    'conditions = ["sep-em"]': r"conditions: 'sep-em' is not one of .*did you mean 'sep-emb'\?",
    'exhibits = ["emergense"]': r"exhibits: 'emergense' is not one of 'table-1', 'base",
    'tasks = ["mnli"]': r"tasks: 'mnli' is not one of 'ner', 'nli', 'parsing', .*did you mean 'nli'\?",
    'tasks = ["__init__"]': r"tasks: '__init__' is not one of",
    'change.word_tasks.schedule = "x"': r"change.word_tasks.schedule: 'x' is not one of 'constant'",
    'change.optimization.decay = "x"': r"change.optimization.decay: 'x' is not one of [^;]*$",
    'change.own_parts_start = "equall"': r"change.own_parts_start: 'equall' is not one of 'independent', 'equal'; did",
    # Wrong types.
    "change.own_parts_start = true": r"change.own_parts_start: should be a string in quotes, not true or false",
    "seeds = 3": r"seeds: should be a list in brackets, not a whole number \(3\)",
    "seeds = [true]": r"seeds: should be a whole number, not true or false",
    "seeds = [0.5]": r"seeds: should be a whole number, not a number \(0.5\)",
    "change = 3": r"change: should be a table",
    "change.shape = 3": r"change.shape: should be a table",
    "change.updates = 3.5": r"change.updates: should be a whole number",
    "change.mask_rate = nan": r"change.mask_rate: should be a finite number",
    "change.mask_rate = 2026-11-15": r"change.mask_rate: should be a number, not date \(2026-11-15\)",
    # Numbers out of range.
    "change.updates = 0": r"change.updates: should be at least 1, not 0",
    "change.batch = 4\nchange.language_draws = 5": r"change.language_draws: should be at most batch, 4, not 5",
    "change.mask_rate = 1": r"change.mask_rate: should be above 0 and below 1, not 1.0",
    "change.shape.heads = 5": r"change.shape.width: should divide by shape.heads: 32 does not divide by 5",
    "change.window = 1000": r"change.window: should be at most shape.positions",
    "change.evaluations = 9999": r"change.evaluations: should be from 1 to 1000",
    "change.updates = 3": r"change.(evaluations|optimization.warmup_updates): should be at most updates",
    "change.updates = 10": r"change.optimization.warmup_updates: should be at most updates, 10",
    "change.shape.dropout = 1.0": r"change.shape.dropout: should be at least 0 and below 1",
    "change.shape.layers = 2": r"conditions: 'sep-l1-6': a model of 2 layers is too shallow",
    "seeds = [-1]": r"seeds: should be from 0 to",
    "change.word_tasks.batches = [8, 0]": r"change.word_tasks.batches: should be at least 1, not 0",
    "change.pair_tasks.learning_rates = [1, 0]": r"change.pair_tasks.learning_rates: should be above 0 and at most",
    "change.pair_tasks.warmup_share = 1": r"change.pair_tasks.warmup_share: should be at least 0 and",
    "change.dev_lines = 3000": r"synthetic.sentences: should be above 4000, which dev_lines",
    # Lists too short or with duplicates.
    'conditions = ["default", "default"]': r"conditions: 'default' stands there twice",
    "conditions = []": r"conditions: needs at least 1, and has 0",
    'exhibits = ["emergence", "emergence"]': r"exhibits: 'emergence' stands there twice",
    "change.word_tasks.batches = []": r"change.word_tasks.batches: needs at least 1, and has 0",
    "seeds = [1, 2, 1]": r"seeds: 1 stands there twice",
    "seeds = []": r"seeds: needs at least 1, and has 0",
}
WRONG_TEXTS = [
    # Unknown and missing keys.
    (study_text(world="nuons = 3"), r"synthetic.nuons: unknown key; .*did you mean 'nouns'\?"),
    (study_text(ela='ordre = "svo"'), r"synthetic.languages.ela.ordre: unknown key; .*did you mean 'order'\?"),
    (study_text(ela='name = "ela"'), r"synthetic.languages.ela.name: unknown key"),
    (study_text(drop="name"), r"name: this key is missing"),
    (study_text(drop="sentences"), r"synthetic.sentences: this key is missing"),
    # Unknown names.
    (study_text('scale = "dmo"', drop="scale"), r"scale: 'dmo' is not one of 'demo', .*did you mean 'demo'\?"),
    (study_text(ela='order = "svoo"'), r"synthetic.languages.ela.order: 'svoo' is not one of 'svo', 'sov', 'vso'; did"),
    (
        SMALLEST.replace("languages.oru]", "languages.orru]"),
        r"synthetic.languages.orru: this language is not in languages, 'ela', 'oru'; did you mean 'oru'\?",
    ),
    (study_text('name = "My study"', drop="name"), r"name: 'My study' should be lower-case letters"),
    (study_text('languages = ["ela", "a:b"]', drop="languages"), r"languages: 'a:b' should be lower-case letters"),
    # Wrong types.
    (study_text("name = 3", drop="name"), r"name: should be a string in quotes, not a whole number \(3\)"),
    (study_text("scale = []", drop="scale"), r"scale: should be a string in quotes, not a list"),
    (study_text(ela="shared_symbols = 1"), r"synthetic.languages.ela.shared_symbols: should be true or false"),
    (study_text(ela="order = 1"), r"synthetic.languages.ela.order: should be a string in quotes"),
    (study_text(world='nouns = "many"'), r"synthetic.nouns: should be a whole number, not the string 'many'"),
    (SMALLEST.split("[synthetic]")[0] + "synthetic = true", r"synthetic: should be a table"),
    (SMALLEST.split("[synthetic.languages")[0] + "languages = 3", r"synthetic.languages: should be a table"),
    (SMALLEST.split("[synthetic.languages")[0] + "languages.ela = 3", r"synthetic.languages.ela: should be a table"),
    # Numbers out of range.
    (study_text(world="nouns = 0"), r"synthetic.nouns: should be at least 1, not 0"),
    (study_text(world="parallel_sentences = 1"), r"synthetic.parallel_sentences: should be at least 2"),
    (study_text(world="train_examples = 1"), r"synthetic.train_examples: should be at least 2, not 1"),
    (study_text(world="dev_examples = 0"), r"synthetic.dev_examples: should be at least 2, not 0"),
    (study_text(world="test_examples = 1"), r"synthetic.test_examples: should be at least 2, not 1"),
    (study_text(ela="cognates = 1.5"), r"synthetic.languages.ela.cognates: should be from 0 to 1, not 1.5"),
    # Lists too short or with duplicates.
    (study_text('languages = ["ela"]', drop="languages"), r"languages: needs at least 2, and has 1"),
    (study_text('languages = ["ela", "ela"]', drop="languages"), r"languages: 'ela' stands there twice"),
]


@pytest.mark.parametrize(("line", "message"), WRONG_LINES.items())
def test_a_wrong_line_is_named_with_what_would_be_right(line: str, message: str) -> None:
    assert re.match(message, problem(study_text(line)))


@pytest.mark.parametrize(("text", "message"), WRONG_TEXTS)
def test_a_wrong_table_is_named_with_what_would_be_right(text: str, message: str) -> None:
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
