"""What conditions do, in words: each says something of its own."""

from dataclasses import replace

from isoglot.report.condition_words import in_words
from isoglot.study.conditions import TABLE_1, Separate, condition_named
from isoglot.study.scales import DEMO, SCALES


def test_every_row_of_table_1_has_words_of_its_own() -> None:
    said = {condition.name: in_words(condition, scale=SCALES["paper"]) for condition in TABLE_1}
    assert len(set(said.values())) == len(TABLE_1)
    assert said["sep-emb"] == "each language has its own embeddings and softmax"
    assert said["sep-emb-l1-6"] == "each language has its own embeddings, softmax and layers 1 to 6 of 8"
    assert said["no-anchors"] == "all layers are shared, but not one subword"


def test_layers_are_those_of_the_model_at_hand() -> None:
    assert in_words(condition_named("sep-l1-6"), scale=DEMO) == "each language has its own layers 1 to 3 of 4"
    apart = replace(condition_named("sep-l1-3"), separate=Separate(layers=frozenset((1, 4))))
    assert in_words(apart, scale=SCALES["paper"]) == "each language has its own layers 1, 4 of 8"
    assert in_words(condition_named("anchors-25"), scale=DEMO).endswith("only 25% of the common subwords")
