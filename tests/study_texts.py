"""Study files for tests: the smallest one that is right, and that one with lines added or dropped."""

SMALLEST = """
name = "mine"
scale = "demo"
languages = ["ela", "oru"]
[synthetic]
sentences = 4000
[synthetic.languages.ela]
[synthetic.languages.oru]
"""


def study_text(top: str = "", *, drop: str | None = None, world: str = "", ela: str = "") -> str:
    """The smallest study with lines added to its tables, or without its line of one key."""
    lines = [line for line in SMALLEST.strip().splitlines() if drop is None or not line.startswith(f"{drop} =")]
    text = "\n".join([top, *lines])
    text = text.replace("[synthetic]", f"[synthetic]\n{world}")
    return text.replace("[synthetic.languages.ela]", f"[synthetic.languages.ela]\n{ela}")
