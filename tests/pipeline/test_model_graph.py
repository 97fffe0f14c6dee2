"""Conditions share the stages of what they have in common; models of one language each are trained apart."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from study_texts import TINY_STUDY

from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.pipeline.stages.models import PretrainedEncoder, UntrainedEncoder
from isoglot.store import Stage, differences, inputs_first
from isoglot.study.conditions import CONDITIONS, MONOLINGUAL, TABLE_1, Condition, Domain, TableKind, condition_named
from isoglot.study.scales import AttentionStart, Start
from isoglot.study.study_file import parse_study
from isoglot.study.synthetic_languages import Synthetic, SyntheticLanguage

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")
PAIR = ("ela", "oru")
NAMES = tuple(condition.name for condition in TABLE_1)


def graph(name: str, *, seed: int = 0) -> ModelGraph:
    return ModelGraph(study=STUDY, condition=CONDITIONS[name], languages=("ela", "oru"), seed=seed)


def settings_apart(a: Stage, b: Stage) -> dict[str, tuple[object, object]]:
    """The last name of every setting that differs, with its values."""
    found = differences(a, b, inputs_first([a, b]).values())
    return {each.path.rpartition(" > ")[2]: (each.a, each.b) for each in found}


def sharers(part: Callable[[ModelGraph], tuple[Stage, ...]]) -> set[frozenset[str]]:
    """Conditions grouped by having one and the same part."""
    digests = {name: tuple(stage.digest for stage in part(graph(name))) for name in NAMES}
    return {frozenset(name for name in NAMES if digests[name] == digest) for digest in digests.values()}


JOINT = frozenset({"default", "extra-anchors"})
EACH_OWN_BPE = frozenset(NAMES) - {*JOINT, "wiki-cc"}
UNION = frozenset({"default-anchors", "sep-l1-3", "sep-l1-6"})
SEPARATE = frozenset({"sep-emb", "sep-emb-l1-3", "sep-emb-l1-6"})


@pytest.mark.parametrize(
    ("part", "groups"),
    [
        (lambda model: (model.texts["ela"],), {frozenset(NAMES)}),
        (lambda model: tuple(model.texts.values()), {frozenset(NAMES) - {"wiki-cc"}, frozenset({"wiki-cc"})}),
        (lambda model: tuple(model.bpe.values()), {JOINT, frozenset({"wiki-cc"}), EACH_OWN_BPE}),
        (
            lambda model: (model.vocabulary, *model.streams.values()),
            {JOINT, frozenset({"wiki-cc"}), frozenset({"no-anchors"}), UNION, SEPARATE},
        ),
        (lambda model: (model.pretrained,), {frozenset({name}) for name in NAMES}),
        (lambda model: (model.untrained,), {JOINT, *(frozenset({name}) for name in NAMES if name not in JOINT)}),
        (lambda model: (model.emergence(model.pretrained).parallel,), {frozenset(NAMES)}),
        (lambda model: tuple(model.emergence(model.pretrained).texts.values()), {frozenset(NAMES)}),
    ],
    ids=["source text", "texts", "bpe", "vocabulary", "pretrained", "untrained", "parallel", "held-out"],
)
def test_conditions_share_what_table_1_lets_them(
    part: Callable[[ModelGraph], tuple[Stage, ...]], groups: set[frozenset[str]]
) -> None:
    assert sharers(part) == groups


@pytest.mark.parametrize(
    ("condition", "other", "apart"),
    [
        (
            "default",
            "wiki-cc",
            {
                "domain": ("main", "other"),
                "no_larger_than": ("(absent)", graph("default").texts["oru"].digest[:16]),
            },
        ),
        ("default-anchors", "no-anchors", {"tables": ("union", "prefixed")}),
        (
            "default-anchors",
            "sep-l1-3",
            {f"run.separate.layers.{place}": ("(absent)", place + 1) for place in range(2)},
        ),
    ],
)
def test_rows_of_table_1_differ_in_what_they_are_about_alone(
    condition: str, other: str, apart: dict[str, tuple[object, object]]
) -> None:
    assert settings_apart(graph(condition).pretrained, graph(other).pretrained) == apart
    domains = {language: text.text.domain for language, text in graph("wiki-cc").texts.items()}
    assert domains == {"ela": Domain.MAIN, "oru": Domain.OTHER}
    assert graph("sep-l1-6").run.separate.layers == {1, 2, 3}


def test_a_joint_bpe_has_all_merges_and_own_ones_a_share_each() -> None:
    joint, own = graph("default").bpe, graph("no-anchors").bpe
    assert joint["ela"] is joint["oru"]
    assert (joint["ela"].merges, [text.language for text in joint["ela"].texts]) == (200, ["ela", "oru"])
    assert {language: (bpe.merges, [text.language for text in bpe.texts]) for language, bpe in own.items()} == {
        "ela": (100, ["ela"]),
        "oru": (100, ["oru"]),
    }
    assert graph("sep-emb").vocabulary.tables is TableKind.SEPARATE


def test_seeds_differ_in_the_seed_of_the_run_alone() -> None:
    first, second = graph("sep-emb", seed=0), graph("sep-emb", seed=1)
    for a, b in ((first.pretrained, second.pretrained), (first.untrained, second.untrained)):
        assert settings_apart(first.emergence(a), second.emergence(b)) == {"run.seed": (0, 1)}


@pytest.mark.parametrize(
    ("setting", "value", "touched"),
    [
        ("own_parts_start", Start.EQUAL, {name for name in NAMES if name.startswith("sep-")}),
        ("attention_start", AttentionStart.NEARBY, {*NAMES}),
    ],
)
def test_another_start_makes_other_models_of_the_conditions_it_touches_alone(
    setting: str, value: str, touched: set[str]
) -> None:
    study = replace(STUDY, scale=replace(STUDY.scale, **{setting: value}))
    for name in NAMES:
        today, other = graph(name), ModelGraph(study=study, condition=CONDITIONS[name], languages=PAIR, seed=0)
        apart = {f"run.{setting}": ("(absent)", value)} if name in touched else {}
        for a, b in ((today.pretrained, other.pretrained), (today.untrained, other.untrained)):
            assert settings_apart(a, b) == apart
            assert (a.digest == b.digest) == (not apart)


def test_nothing_a_model_learns_from_is_parallel_text() -> None:
    for name in NAMES:
        model = graph(name)
        scored = model.emergence(model.pretrained)
        assert scored.parallel.digest not in inputs_first([model.pretrained])
        assert list(model.switchable) == (["ela", "oru"] if name == "extra-anchors" else [])
        assert scored.parallel.digest in inputs_first([scored])


def test_a_third_language_changes_nothing_for_the_first_two() -> None:
    assert isinstance(STUDY.text, Synthetic)
    text = replace(STUDY.text, languages=(*STUDY.text.languages, SyntheticLanguage(name="tem")))
    larger = replace(STUDY, languages=(*STUDY.languages, "tem"), text=text)
    model = ModelGraph(study=larger, condition=CONDITIONS["default"], languages=("ela", "oru"), seed=0)
    assert model.emergence(model.pretrained).digest == graph("default").emergence(graph("default").pretrained).digest


def test_extra_anchors_differ_from_default_in_the_text_that_is_switched_alone() -> None:
    default, extra = graph("default"), graph("extra-anchors")
    assert replace(extra.pretrained, switchable={}).digest == default.pretrained.digest
    assert replace(extra.untrained, label=default.label) == default.untrained
    for language, text in extra.switchable.items():
        assert text.text == default.texts[language]


def test_anchors_kept_at_random_are_drawn_for_each_seed() -> None:
    def vocabulary(name: str, seed: int) -> str:
        condition = condition_named(name)
        return ModelGraph(study=STUDY, condition=condition, languages=("ela", "oru"), seed=seed).vocabulary.digest

    assert vocabulary("anchors-50", 0) == vocabulary("anchors-50", 1)
    assert len({vocabulary(name, seed) for name in ("anchors-50-random", "anchors-25-random") for seed in (0, 1)}) == 4


def pair(languages: tuple[str, str] = PAIR, condition: Condition = MONOLINGUAL, *, seed: int = 0) -> ModelPair:
    return ModelPair.of(STUDY, condition, languages, seed=seed)


def test_models_of_one_language_never_hear_of_the_other_and_start_from_other_weights() -> None:
    own, prime = pair(), pair(("ela", "ela-prime"))
    for side, language in ((own.source, "ela"), (own.target, "oru")):
        assert side.encoder.run.languages == (language,)
        assert set(side.encoder.streams) == {language}
        assert side.encoder.run.updates == STUDY.scale.updates
    seeds = [side.encoder.run.seed for each in (own, pair(seed=1)) for side in (each.source, each.target)]
    assert len({*seeds, prime.target.encoder.run.seed}) == 5
    assert prime.source.encoder.digest == own.source.encoder.digest


def test_a_second_model_reads_the_same_text_in_the_same_subwords() -> None:
    prime, both = pair(("ela", "ela-prime")), pair(("ela", "ela-prime"), CONDITIONS["sep-emb"])
    source, target = prime.source.stream, prime.target.stream
    assert source.text.digest == target.text.digest
    assert source.bpe.digest == target.bpe.digest == both.target.stream.bpe.digest
    assert both.source.encoder.run.separate.embeddings


def test_subwords_are_those_of_models_with_bpe_of_their_own() -> None:
    own, both = pair().target.stream, pair(condition=CONDITIONS["no-anchors"]).target.stream
    assert own.bpe.digest == both.bpe.digest
    assert own.vocabulary.digest != both.vocabulary.digest


def test_of_models_of_one_language_each_only_the_target_may_be_untrained() -> None:
    whole = ModelPair.of(STUDY, CONDITIONS["default"], PAIR, seed=0, is_trained=False)
    assert whole.source.encoder.digest == whole.target.encoder.digest == graph("default").untrained.digest
    half = ModelPair.of(STUDY, MONOLINGUAL, PAIR, seed=0, is_trained=False)
    assert isinstance(half.source.encoder, PretrainedEncoder)
    assert isinstance(half.target.encoder, UntrainedEncoder)
    assert half.target.encoder.run == pair().target.encoder.run


def test_one_model_reads_both_languages() -> None:
    both = pair(condition=CONDITIONS["default"], seed=1)
    assert both.source.encoder is both.target.encoder
    assert both.source.encoder.digest == graph("default", seed=1).pretrained.digest


def test_maps_are_fitted_on_other_sentences_than_they_are_scored_by() -> None:
    stage = pair().sentence_alignment()
    assert stage.fit.digest == pair().similarity().parallel.digest != stage.test.digest
