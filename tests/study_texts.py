"""Study files for tests: the smallest one that is right, that one with lines added or dropped, and one to run."""

SMALLEST = """
name = "mine"
scale = "demo"
languages = ["ela", "oru"]
[synthetic]
sentences = 4000
[synthetic.languages.ela]
[synthetic.languages.oru]
"""

TINY_STUDY = """
name = "tiny"
scale = "demo"
languages = ["ela", "oru"]
conditions = ["default", "no-anchors", "sep-emb-l1-6"]
exhibits = ["emergence", "table-1"]
tasks = ["parsing"]
seeds = [0, 1]

[change]
merges = 200
window = 16
batch = 8
updates = 80
evaluations = 4
dev_lines = 20
test_lines = 20
shape.layers = 4
shape.width = 16
shape.heads = 2
shape.feed_forward = 32
shape.positions = 64
optimization.warmup_updates = 2
word_tasks.learning_rates = [4e-3]
word_tasks.epochs = 2
word_tasks.epoch_examples = 40

[synthetic]
sentences = 400
parallel_sentences = 20
train_examples = 40
dev_examples = 10
test_examples = 10
languages.ela = { cognates = 0.2 }
languages.oru = { cognates = 0.2, adpositions = "after" }
"""


def study_text(top: str = "", *, drop: str | None = None, world: str = "", ela: str = "") -> str:
    """The smallest study with lines added to its tables, or without its line of one key."""
    lines = [line for line in SMALLEST.strip().splitlines() if drop is None or not line.startswith(f"{drop} =")]
    text = "\n".join([top, *lines])
    text = text.replace("[synthetic]", f"[synthetic]\n{world}")
    return text.replace("[synthetic.languages.ela]", f"[synthetic.languages.ela]\n{ela}")


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
