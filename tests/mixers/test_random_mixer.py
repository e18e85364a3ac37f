from dataclasses import replace

import pytest
import torch

from openmix_dm.mixers import CutMix, Mixer, Mixup, NoMix, RandomMixer
from openmix_dm.structures import MixedPair


def test_policies_are_drawn_by_their_probabilities_and_stamped():
    mixer = RandomMixer([Mixup(0.8), CutMix(1.0), NoMix()], probs=[0.5, 0.3, 0.2])
    inputs, labels, draws = torch.randn(4, 3, 8, 8), torch.arange(4), 2000
    counts = [0, 0, 0]
    for _ in range(draws):
        batch = mixer(inputs, labels)
        policy = batch.target.policy
        counts[policy] += 1
        assert (batch.mask is not None) == (policy == 1)
        assert (batch.inputs is inputs) == (policy == 2)
    for count, prob in zip(counts, mixer.probs, strict=True):
        assert abs(count - draws * prob) < 4 * (draws * prob * (1 - prob)) ** 0.5


def test_all_alike_without_probabilities():
    assert RandomMixer([Mixup(1.0), NoMix()]).probs == [0.5, 0.5]


def test_a_probability_of_zero_is_never_drawn():
    mixer = RandomMixer([Mixup(1.0), NoMix(), CutMix(1.0)], probs=[0, 1, 0])
    assert {mixer.draw() for _ in range(200)} == {1}


def test_the_stamp_survives_relabelling():
    class Relabelled(Mixer):
        def mix(self, inputs, partner, lam, labels=None, probe=None):
            return MixedPair(inputs, torch.ones(len(inputs)), relabel=lambda attention: attention.mean(dim=(1, 2)))

    mixer = RandomMixer([NoMix(), Relabelled(alpha=1.0)], probs=[0, 1])
    batch = mixer(torch.randn(3, 1, 4, 4), torch.arange(3))
    target = batch.relabel(torch.full((3, 2, 2), 0.25))
    assert target.policy == 1
    assert target.lam.tolist() == [0.25] * 3
    assert torch.equal(target.y_b, replace(batch.target).y_b)


@pytest.mark.parametrize(
    ('mixers', 'probs', 'said'),
    [
        ([], None, 'at least one'),
        ([Mixup(1.0)], [0.5, 0.5], 'one probability'),
        ([Mixup(1.0), NoMix()], [0.5, 0.6], 'sum to 1'),
        ([Mixup(1.0), NoMix()], [1.5, -0.5], 'at least 0'),
        ([Mixup(1.0), NoMix()], [float('nan'), 1], 'at least 0'),
        ([RandomMixer([NoMix()])], None, 'flat'),
    ],
)
def test_bad_mixtures_are_refused(mixers, probs, said):
    with pytest.raises(ValueError, match=said):
        RandomMixer(mixers, probs)
