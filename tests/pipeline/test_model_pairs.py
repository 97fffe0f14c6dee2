"""Models of one language each are trained apart, and share with models of both what they can."""

from study_texts import TINY_STUDY

from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.pipeline.stages.models import PretrainedEncoder, UntrainedEncoder
from isoglot.study.conditions import CONDITIONS, MONOLINGUAL
from isoglot.study.study import parse_study

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")
PAIR = ("ela", "oru")


def test_models_of_one_language_never_hear_of_the_other() -> None:
    pair = ModelPair.of(STUDY, MONOLINGUAL, PAIR, seed=0)
    for side, language in ((pair.source, "ela"), (pair.target, "oru")):
        assert side.encoder.run.languages == (language,)
        assert set(side.encoder.streams) == {language}
        assert side.encoder.run.updates == STUDY.scale.updates


def test_they_start_from_other_weights() -> None:
    pair = ModelPair.of(STUDY, MONOLINGUAL, PAIR, seed=0)
    prime = ModelPair.of(STUDY, MONOLINGUAL, ("ela", "ela-prime"), seed=0)
    other_seed = ModelPair.of(STUDY, MONOLINGUAL, PAIR, seed=1)
    seeds = [side.encoder.run.seed for each in (pair, other_seed) for side in (each.source, each.target)]
    seeds.append(prime.target.encoder.run.seed)
    assert len(set(seeds)) == 5
    assert prime.source.encoder.digest == pair.source.encoder.digest


def test_a_second_model_reads_the_same_text_in_the_same_subwords() -> None:
    prime = ModelPair.of(STUDY, MONOLINGUAL, ("ela", "ela-prime"), seed=0)
    assert prime.source.graph.texts["ela"].digest == prime.target.graph.texts["ela-prime"].digest
    assert prime.source.stream.bpe.digest == prime.target.stream.bpe.digest
    assert prime.source.stream.text.splitting == prime.target.stream.text.splitting
    both = ModelPair.of(STUDY, CONDITIONS["sep-emb"], ("ela", "ela-prime"), seed=0)
    assert both.source.encoder.run.separate.embeddings
    assert both.target.stream.bpe.digest == prime.target.stream.bpe.digest


def test_subwords_are_those_of_models_with_bpe_of_their_own() -> None:
    own = ModelPair.of(STUDY, MONOLINGUAL, PAIR, seed=0)
    both = ModelPair.of(STUDY, CONDITIONS["no-anchors"], PAIR, seed=0)
    assert own.target.stream.bpe.digest == both.target.stream.bpe.digest
    assert own.target.stream.vocabulary.digest != both.target.stream.vocabulary.digest


def test_only_the_target_may_be_untrained() -> None:
    pair = ModelPair.of(STUDY, MONOLINGUAL, PAIR, seed=0, is_target_trained=False)
    assert isinstance(pair.source.encoder, PretrainedEncoder)
    assert isinstance(pair.target.encoder, UntrainedEncoder)
    assert pair.target.encoder.run == ModelPair.of(STUDY, MONOLINGUAL, PAIR, seed=0).target.encoder.run


def test_one_model_reads_both_languages() -> None:
    pair = ModelPair.of(STUDY, CONDITIONS["default"], PAIR, seed=1)
    assert pair.source.encoder is pair.target.encoder
    graph = ModelGraph(study=STUDY, condition=CONDITIONS["default"], languages=PAIR, seed=1)
    assert pair.source.encoder.digest == graph.pretrained.digest


def test_maps_are_fitted_on_other_sentences_than_they_are_scored_by() -> None:
    stage = ModelPair.of(STUDY, MONOLINGUAL, PAIR, seed=0).sentence_alignment()
    assert stage.fit.digest != stage.test.digest
    assert stage.fit.digest == ModelPair.of(STUDY, MONOLINGUAL, PAIR, seed=0).similarity().parallel.digest
