"""A study of two real languages, small enough to run in a second: English and French text made up of a few words."""

import gzip
import lzma
from pathlib import Path

import numpy as np

WORDS = {
    "en": "the cat dog sees house Mr. Smith's old , . on 1,000 big man Paris",
    "fr": "le chat chien voit maison l'homme vieux , . sur 1,000 grand d'eau Paris",
    "de": "die Katze Hund sieht Haus der alte , . auf 1.000 große Mann Paris",
}
PAIRS = [("cat", "chat"), ("dog", "chien"), ("sees", "voit"), ("house", "maison"), ("old", "vieux"), ("the", "le")]
STUDY = """
name = "real"
scale = "demo"
languages = ["en", "fr"]
seeds = [0]
exhibits = ["vocabulary"]

[change]
merges = 40
batch = 8
updates = 20
evaluations = 2
dev_lines = 20
test_lines = 60
optimization.warmup_updates = 2

[text]
en = "text/en.txt.xz"
fr = ["text/fr-1.txt.gz", "text/fr-2.txt"]
[text.other-domain]
fr = "text/fr-other.txt"
[resources]
dictionary.en-fr = "en-fr.tsv"
retrieval.en-fr = ["parallel.en", "parallel.fr"]
word-translation.en-fr = "muse.txt"
ner.en.train = "train.en.bio"
ner.en.dev = "dev.en.bio"
ner.en.test = "test.en.bio"
ner.fr.test = "test.fr.bio"
"""


def made_up_text(language: str, *, lines: int, seed: int) -> bytes:
    """Some with more tokens than the demo's model has positions."""
    random = np.random.default_rng(seed)
    lengths = [*random.integers(3, 12, lines - lines // 10), *random.integers(60, 90, lines // 10)]
    return "".join(" ".join(random.choice(WORDS[language].split(), length)) + "\n" for length in lengths).encode()


def write_real_study(folder: Path) -> Path:
    """The study file and everything that it names; returns its path."""
    (folder / "text").mkdir(parents=True)
    (folder / "text/en.txt.xz").write_bytes(lzma.compress(made_up_text("en", lines=300, seed=0)))
    (folder / "text/fr-1.txt.gz").write_bytes(gzip.compress(made_up_text("fr", lines=200, seed=1), mtime=0))
    (folder / "text/fr-2.txt").write_bytes(made_up_text("fr", lines=100, seed=2))
    (folder / "text/fr-other.txt").write_bytes(made_up_text("fr", lines=500, seed=3))
    (folder / "en-fr.tsv").write_text("".join(f"{a}\t{b}\t{n}\n" for n, (a, b) in enumerate(PAIRS, start=1)))
    (folder / "muse.txt").write_text("".join(f"{a} {b}\n" for a, b in PAIRS[:3]))
    (folder / "parallel.en").write_text("".join(f"the {a} sees the house {n}\n" for n, (a, _) in enumerate(PAIRS)))
    (folder / "parallel.fr").write_text("".join(f"le {b} voit le maison {n}\n" for n, (_, b) in enumerate(PAIRS)))
    for count, split in enumerate(("train", "dev", "test"), start=3):
        (folder / f"{split}.en.bio").write_text("the\tO\nman\tO\nSmith\tB-PER\n\nParis\tB-LOC\n\n" * count)
    (folder / "test.fr.bio").write_text("le\tO\nchat\tO\n\nParis\tB-LOC\n\n" * 5)
    (folder / "real.toml").write_text(STUDY, encoding="utf-8")
    return folder / "real.toml"
