import pytest
import torch
from reference import transfer as reference

from openmix_dm.errors import DataError
from openmix_dm.semi.relation import STRENGTHS, direct_relation, fit_logistic, fit_scale, reverse_relation


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


def test_seventeen_strengths_are_tried():
    assert len(STRENGTHS) == 17
    assert (min(STRENGTHS), max(STRENGTHS)) == pytest.approx((1e-4, 1e4))
