import pytest
import torch
from reference import transfer as reference

from openmix_dm.datasets.splits.draw import stratified_split
from openmix_dm.errors import DataError
from openmix_dm.semi.relation import HELD_OUT, STRENGTHS, direct_relation, fit_logistic, fit_scale, reverse_relation


def answers(images=200, sources=6, targets=3, seed=0):
    """Draw labels, and source probabilities in which target class t looks like the source classes 2 t and 2 t + 1."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(images) % targets
    logits = torch.randn(images, sources, generator=generator)
    for source in range(sources):
        logits[:, source] += 3.0 * (labels == source // 2)
    return logits.softmax(dim=1), labels


def test_direct_is_the_mean_of_each_class():
    probabilities, labels = answers()
    expected = reference.mean_by_class(probabilities.double(), labels, 3)
    torch.testing.assert_close(direct_relation(probabilities, labels, 3), expected)


def test_a_class_without_images_is_named():
    probabilities, labels = answers()
    for relate in (direct_relation, reverse_relation):
        with pytest.raises(DataError, match=r'none of \[3\]'):
            relate(probabilities, labels, 4)


def test_the_regression_is_scikit_learns():
    from sklearn.linear_model import LogisticRegression

    probabilities, labels = answers()
    for strength in (0.1, 100.0):
        theirs = LogisticRegression(C=strength, fit_intercept=False, tol=1e-10, max_iter=10_000)
        theirs.fit(probabilities.double().numpy(), labels.numpy())
        mine = fit_logistic(probabilities.double(), labels, 3, strength)
        torch.testing.assert_close(mine.T, torch.from_numpy(theirs.coef_), rtol=1e-3, atol=1e-3)


def test_the_scale_makes_the_labels_most_likely():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(4000, 3, generator=generator, dtype=torch.float64)
    labels = torch.multinomial((2.5 * logits).softmax(dim=1), 1, generator=generator)[:, 0]
    assert abs(fit_scale(logits, labels) - 2.5) < 0.2


def test_reverse_finds_which_source_classes_belong_to_a_target_class():
    probabilities, labels = answers()
    relation = reverse_relation(probabilities, labels, 3)
    torch.testing.assert_close(relation.sum(dim=1), torch.ones(3, dtype=torch.float64))
    for target in range(3):
        assert relation[target, 2 * target : 2 * target + 2].sum() > 0.8


def written(*groups):
    """Return images of groups of (class, unnormalised source probabilities, how many)."""
    labels = torch.tensor([label for label, _, count in groups for _ in range(count)])
    rows = torch.tensor([row for _, row, count in groups for _ in range(count)], dtype=torch.float64)
    return rows / rows.sum(dim=1, keepdim=True), labels


def noisy(images, sources, targets, seed):
    """Draw source probabilities that say little about the class."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(images) % targets
    logits = 2 * torch.randn(images, sources, generator=generator, dtype=torch.float64)
    logits[torch.arange(images), labels] += 1
    return logits.softmax(dim=1), labels


# case -> images, and which strength is best if the strongest or the weakest regularisation wins a tie
TIES = {
    'all are equally good': (
        written((0, [8, 1, 1], 16), (0, [1, 8, 1], 4), (1, [1, 8, 1], 15), (1, [8, 1, 1], 5)), 1e-4, 1e4,
    ),
    'strong ones are': (noisy(60, 12, 3, seed=0), 1e-4, 3.0),
    'some in the middle are': (noisy(80, 20, 2, seed=1), 1.0, 30.0),
    'one is the best': (noisy(80, 20, 2, seed=2), 10.0, 10.0),
}  # fmt: skip


@pytest.mark.parametrize('case', TIES)
def test_of_equally_good_regularisations_the_weakest_is_taken(case):
    """The released code tries them from 1e4 down and takes the first of the best."""
    (probabilities, labels), strongest, weakest = TIES[case]
    split = stratified_split(labels, HELD_OUT, seed=0)
    expected, strength = reference.reverse_relation(probabilities, labels, *split)
    other, upwards = reference.reverse_relation(probabilities, labels, *split, reference.RELEASED_ORDER[::-1])
    assert (upwards, strength) == (strongest, weakest)
    assert (other - expected).abs().max() > 0.005 or strongest == weakest  # so the choice can be seen in the relation
    found = reverse_relation(probabilities, labels, int(labels.max()) + 1)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-4)


def test_classes_that_can_be_told_apart_without_error_have_a_finite_relation():
    """No scale is the best one then: the larger, the better."""
    probabilities, labels = written((0, [8, 1, 1], 20), (1, [1, 8, 1], 20), (2, [1, 1, 8], 20))
    relation = reverse_relation(probabilities, labels, 3)
    torch.testing.assert_close(relation, torch.eye(3, dtype=torch.float64), rtol=0, atol=0.01)


def test_seventeen_strengths_are_tried():
    assert len(STRENGTHS) == 17
    assert (min(STRENGTHS), max(STRENGTHS)) == pytest.approx((1e-4, 1e4))
