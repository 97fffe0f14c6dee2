"""Samples: means, seeds and how sure a mean is, through sums and differences."""

import pytest

from isoglot.report.verdicts import Sample, mean_sample


def test_more_seeds_make_a_mean_surer() -> None:
    found = Sample.of({0: 10.0, 1: 20.0, 2: 30.0, 3: 40.0})
    assert (found.mean, found.variance, found.values) == (25.0, 0.25, (10.0, 20.0, 30.0, 40.0))


def test_a_difference_is_taken_seed_by_seed_and_less_sure_than_either() -> None:
    found = Sample.of({0: 10.0, 1: 30.0}) - Sample.of({1: 1.0, 0: 5.0})
    assert found.by_seed == {0: 5.0, 1: 29.0}
    assert (found.mean, found.variance) == (17.0, 1.0)


def test_seeds_that_one_side_lacks_count_for_the_mean_alone() -> None:
    found = Sample.of({0: 10.0, 1: 30.0}) - Sample.of({1: 1.0})
    assert found.by_seed == {1: 29.0}
    assert (found.mean, found.variance) == (19.0, 1.5)
    apart = Sample.of({0: 10.0}) - Sample.of({1: 4.0})
    assert (apart.mean, apart.by_seed, apart.values) == (6.0, {}, (6.0,))
    # Once no seed has all of it, none has, whatever is added.
    assert (apart + Sample.of({1: 1.0})).values == (7.0,)


def test_what_is_certain_has_every_seed_and_adds_no_doubt() -> None:
    found = Sample.of({0: 40.0, 7: 44.0}) - Sample.certain(33.0)
    assert found.by_seed == {0: 7.0, 7: 11.0}
    assert found.variance == 0.5
    assert (Sample.certain(2.0) + Sample.certain(1.0)).values == (3.0,)


def test_a_mean_of_scores_is_surer_by_their_number() -> None:
    found = mean_sample([Sample.of({0: 10.0, 1: 20.0}), Sample.of({0: 30.0, 1: 60.0})])
    assert found.by_seed == {0: 20.0, 1: 40.0}
    assert (found.mean, found.variance) == (30.0, pytest.approx(0.25))
    assert (Sample.of({0: 10.0}) * 0.5).variance == 0.25
