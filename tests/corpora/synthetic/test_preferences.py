import numpy as np
import pytest
from scipy.stats import chisquare

from isoglot.corpora.synthetic.inventory import VERB, Part, Role, slot
from isoglot.corpora.synthetic.meanings import draw_meanings, latents, preferences, topic_shares
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
