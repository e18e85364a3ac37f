"""Which guesses are trusted; curriculum pseudo-labelling against a slow reference."""

import pytest
import torch
from reference.semi import curriculum, remember
from support.semi_steps import CLASSES, facts

from openmix_dm.errors import ConfigError
from openmix_dm.semi.thresholds import CurriculumThreshold, FixedThreshold

CPU = torch.device('cpu')


def met(unlabelled=50, tau=0.95):
    threshold = CurriculumThreshold(tau)
    threshold.setup(facts(unlabelled))
    return threshold


def test_a_fixed_threshold_is_one_number():
    assert FixedThreshold(0.8).levels(CLASSES, CPU).item() == pytest.approx(0.8)


@pytest.mark.parametrize('tau', [-0.1, 1.1])
def test_a_threshold_is_a_probability(tau):
    with pytest.raises(ValueError, match='tau'):
        FixedThreshold(tau)


def test_all_is_trusted_while_nothing_is_remembered():
    assert met().levels(CLASSES, CPU).tolist() == [0.0] * CLASSES


def test_thresholds_by_hand():
    """Of 10 images 5 remember nothing, 4 class 0 and 1 class 1: 5 is the largest count, which is the warm-up."""
    threshold = met(10)
    threshold.remembered = torch.tensor([0, 0, 0, 0, 1, -1, -1, -1, -1, -1])
    beta = torch.tensor([0.8, 0.2] + [0.0] * 8)
    torch.testing.assert_close(threshold.levels(CLASSES, CPU), 0.95 * beta / (2 - beta))
    threshold.remembered = torch.tensor([0, 0, 0, 0, 1, 1, 2, 2, 2, -1])  # now class 0 has the largest
    beta = torch.tensor([1.0, 0.5, 0.75] + [0.0] * 7)
    torch.testing.assert_close(threshold.levels(CLASSES, CPU), 0.95 * beta / (2 - beta))


def test_many_batches_against_the_reference():
    threshold, remembered = met(50), [-1] * 50
    for _ in range(40):
        index = torch.randint(50, (12,))  # images may be in a batch twice: the last pseudo counts
        confidence = torch.rand(12) ** 0.1
        hard = torch.randint(CLASSES, (12,))
        expected = torch.tensor(curriculum(remembered, CLASSES, 0.95))
        torch.testing.assert_close(threshold.levels(CLASSES, CPU), expected)
        threshold.record(confidence, hard, index)
        remembered = remember(remembered, index.tolist(), confidence.tolist(), hard.tolist(), 0.95)
        assert threshold.remembered.tolist() == remembered
    assert max(remembered) > 0


def test_the_record_asks_for_tau_and_not_for_the_threshold_of_the_class():
    threshold = met(10)
    threshold.record(torch.tensor([0.94, 0.96]), torch.tensor([3, 4]), torch.tensor([0, 1]))
    assert threshold.levels(CLASSES, CPU)[3] == 0  # the mask of class 3 lets 0.94 pass
    assert threshold.remembered.tolist() == [-1, 4] + [-1] * 8


def test_an_unsure_guess_does_not_undo_a_sure_one_of_the_same_batch():
    threshold = met(10)
    threshold.record(torch.tensor([0.99, 0.5]), torch.tensor([3, 4]), torch.tensor([7, 7]))
    assert threshold.remembered[7] == 3


def test_the_stream_has_to_be_known():
    with pytest.raises(ConfigError, match='does not know the unlabelled stream'):
        CurriculumThreshold().levels(CLASSES, CPU)


def test_state_is_saved():
    threshold, again = met(10), met(10)
    threshold.record(torch.tensor([0.99]), torch.tensor([3]), torch.tensor([7]))
    again.load_state_dict(threshold.state_dict())
    assert torch.equal(again.remembered, threshold.remembered)
