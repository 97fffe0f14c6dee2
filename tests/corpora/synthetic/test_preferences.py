import numpy as np
import pytest
from scipy.stats import chisquare

from isoglot.corpora.synthetic.inventory import WordClass, inventory
from isoglot.corpora.synthetic.meanings import draw_meanings, latents, preferences, topic_shares, topic_tilts
from isoglot.corpora.synthetic.structures import VERB, Part, Role, slot
from isoglot.study.conditions import Domain
from isoglot.study.synthetic_languages import World

HEAD_AND_DEPENDENT = [
    ("noun", VERB, slot(Role.SUBJECT, Part.HEAD)),
    ("noun", VERB, slot(Role.OBJECT, Part.HEAD)),
    ("name", VERB, slot(Role.SUBJECT, Part.HEAD)),
    ("adjective", slot(Role.OBJECT, Part.HEAD), slot(Role.OBJECT, Part.ADJECTIVE)),
    ("determiner", slot(Role.OBLIQUE, Part.HEAD), slot(Role.OBLIQUE, Part.DETERMINER)),
    ("number", slot(Role.SUBJECT, Part.HEAD), slot(Role.SUBJECT, Part.NUMBER)),
    ("adposition", slot(Role.OBLIQUE, Part.HEAD), slot(Role.OBLIQUE, Part.ADPOSITION)),
    ("name", slot(Role.OBJECT, Part.HEAD), slot(Role.OBJECT, Part.NAME)),
]


def test_heads_differ_by_the_dot_product_of_latents(plain_world: World) -> None:
    noun = preferences(plain_world).noun
    log_HW = np.log(noun.probability_THW[0])
    pull_HW = latents(plain_world)[noun.heads] @ latents(plain_world)[noun.dependents].T
    residual_HW = log_HW - pull_HW
    # What the pull leaves is a term for each head and a term for each dependent.
    additive_HW = residual_HW.mean(1, keepdims=True) + residual_HW.mean(0) - residual_HW.mean()
    np.testing.assert_allclose(residual_HW, additive_HW, atol=1e-8)


def test_running_words_are_zipfian(plain_world: World) -> None:
    concept_BS = draw_meanings(plain_world, count=40_000, seed=0).concept_BS
    for word_class in (WordClass.NOUN, WordClass.VERB, WordClass.ADJECTIVE):
        ids = inventory(plain_world).ranges[word_class]
        counts = np.bincount(concept_BS[concept_BS >= 0], minlength=ids.stop)[ids.start : ids.stop]
        slope, _ = np.polyfit(np.log(np.arange(1, len(ids) + 1)), np.log(counts), 1)
        assert slope == pytest.approx(-plain_world.zipf_exponent, abs=0.1)


def test_topics_tilt_the_odds_of_words(world: World) -> None:
    noun_THW = preferences(world).noun.probability_THW
    tilt_TW = topic_tilts(world)[:, preferences(world).noun.dependents]
    odds = (noun_THW[1] / noun_THW[0])[:, 3] / (noun_THW[1] / noun_THW[0])[:, 7]
    np.testing.assert_allclose(odds, (tilt_TW[1, 3] / tilt_TW[0, 3]) / (tilt_TW[1, 7] / tilt_TW[0, 7]))


@pytest.mark.parametrize(("name", "head", "dependent"), HEAD_AND_DEPENDENT)
def test_drawn_dependents_follow_the_table(plain_world: World, name: str, head: int, dependent: int) -> None:
    preference = getattr(preferences(plain_world), name)
    concept_BS = draw_meanings(plain_world, count=60_000, seed=1).concept_BS
    heads, dependents = concept_BS[:, head], concept_BS[:, dependent]
    commonest = np.bincount(heads[np.isin(heads, preference.heads)]).argmax()
    drawn = dependents[(heads == commonest) & np.isin(dependents, preference.dependents)]
    observed = np.bincount(drawn - preference.dependents.start, minlength=len(preference.dependents))
    expected = preference.probability_THW[0, commonest - preference.heads.start] * len(drawn)
    frequent = expected >= 5
    observed, expected = (np.append(x[frequent], x[~frequent].sum()) for x in (observed, expected))
    assert chisquare(observed[expected > 0], expected[expected > 0]).pvalue > 1e-4


def test_verbs_follow_the_topics_of_their_domain(world: World) -> None:
    verb_TV = preferences(world).verb.probability_THW[:, 0]
    for domain in Domain:
        verbs = draw_meanings(world, count=20_000, seed=2, domain=domain).concept_BS[:, VERB]
        expected = topic_shares(world, domain=domain) @ verb_TV * len(verbs)
        assert chisquare(np.bincount(verbs, minlength=len(expected)), expected).pvalue > 1e-4
