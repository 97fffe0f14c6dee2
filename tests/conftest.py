"""What many tests start from: a model, a world and a study small enough for a second."""

from pathlib import Path

import pytest
from hypothesis import settings

from isoglot.languages import World
from isoglot.scales import EncoderShape, NormPlacement, Optimization, Scale

# Two busy cores must not make a property fail for being slow, nor one run differ from the next.
settings.register_profile("isoglot", deadline=None, derandomize=True)
settings.load_profile("isoglot")

TINY_STUDY = """
name = "tiny"
scale = "demo"
languages = ["ela", "oru"]
conditions = ["default", "sep-emb-l1-6"]

[change]
merges = 60
window = 16
batch = 8
updates = 6
evaluations = 2
dev_lines = 20
test_lines = 20
shape.width = 16
shape.feed_forward = 32
shape.positions = 32
optimization.warmup_updates = 2

[synthetic]
sentences = 400
parallel_sentences = 20
languages.ela = { cognates = 0.2 }
languages.oru = { cognates = 0.2, adpositions = "after" }
"""


@pytest.fixture
def tiny_scale() -> Scale:
    return Scale(
        name="tiny",
        summary="for tests",
        shape=EncoderShape(
            layers=4,
            width=16,
            heads=2,
            feed_forward=32,
            positions=32,
            dropout=0.0,
            attention_dropout=0.0,
            norm=NormPlacement.PRE,
        ),
        optimization=Optimization(learning_rate=5e-3, warmup_updates=2),
        merges=60,
        window=16,
        batch=8,
        updates=6,
        evaluations=2,
        dev_lines=20,
        test_lines=20,
    )


@pytest.fixture
def tiny_world() -> World:
    return World(
        nouns=8,
        verbs=4,
        adjectives=4,
        adpositions=2,
        people=4,
        places=2,
        organisations=2,
        numbers=3,
        topics=2,
        latent_dimensions=2,
    )


@pytest.fixture
def tiny_study_file(tmp_path: Path) -> Path:
    """A whole study that trains two models in about a second."""
    path = tmp_path / "tiny.toml"
    path.write_text(TINY_STUDY, encoding="utf-8")
    return path
