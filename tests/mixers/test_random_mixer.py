from bisect import bisect_right
from dataclasses import replace

import pytest
import torch
import torch.distributed as dist
from support.small_models import by_attention
from support.two_ranks import on_two_ranks
from torch import nn

from openmix_dm.classifiers import MixClassifier
from openmix_dm.engine.seed import seed_iteration
from openmix_dm.mixers import CutMix, Mixer, Mixup, NoMix, RandomMixer
from openmix_dm.structures import AfterForward, MixedPair, Outputs
from openmix_dm.utils.keys import ITERATION, key

DRAWS = 40


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
            return MixedPair(inputs, torch.ones(len(inputs)), after=AfterForward(by_attention, ('attention',)))

    mixer = RandomMixer([NoMix(), Relabelled(alpha=1.0)], probs=[0, 1])
    batch = mixer(torch.randn(3, 1, 4, 4), torch.arange(3))
    target = batch.finish(Outputs(torch.zeros(3, 5), attention=torch.full((3, 2, 2), 0.25)))[0]
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


def mix_digits(rank):
    """Return policy and lam of each of some iterations, as a run draws them."""
    mixer = RandomMixer([Mixup(0.8), CutMix(1.0), NoMix()], probs=[0.5, 0.25, 0.25])
    inputs, labels, drawn = torch.randn(4, 3, 8, 8), torch.arange(4), []
    for iteration in range(DRAWS):
        seed_iteration(7, iteration, rank)
        torch.rand(rank)  # ranks may have drawn differently often before they mix
        target = mixer(inputs, labels).target
        drawn.append((target.policy, target.lam[0].item()))
    return drawn


def test_one_rank_draws_policies_from_its_own_numbers():
    """As ever: the runs of one rank stay what they were."""
    expected = []
    for iteration in range(DRAWS):
        torch.manual_seed(key(ITERATION, 7, iteration, 0))
        expected.append(bisect_right([0.5, 0.75], torch.rand((), dtype=torch.float64).item()))
    assert [policy for policy, _ in mix_digits(0)] == expected


@pytest.mark.slow
def test_ranks_draw_one_policy_and_lam_of_their_own(tmp_path):
    first, second = on_two_ranks(mix_digits, tmp_path)
    assert [policy for policy, _ in first] == [policy for policy, _ in second]
    assert {policy for policy, _ in first} == {0, 1, 2}
    assert not {lam for policy, lam in first if policy == 0} & {lam for policy, lam in second if policy == 0}


class NormOfAllRanks(nn.BatchNorm2d):
    """Batch norm that talks to the other ranks in each forward, as synchronised batch norm does on GPUs."""

    calls = 0

    def forward(self, inputs):
        mean = inputs.detach().mean(dim=(0, 2, 3))
        dist.all_reduce(mean)
        NormOfAllRanks.calls += 1
        return super().forward(inputs) + 0 * mean.view(1, -1, 1, 1)


def train_automix_now_and_then(rank):
    """Return how often the norms have talked after each iteration."""
    model = MixClassifier(
        backbone={'type': 'ThinResNet', 'depth': 8},
        head={'type': 'LinearHead', 'num_classes': 4, 'loss': {'type': 'MixedCE'}},
        mixer={'type': 'RandomMixer', 'mixers': [{'type': 'AutoMix', 'stage': 'stage2'}, {'type': 'NoMix'}]},
    )
    for part in model.modules():
        if type(part) is nn.BatchNorm2d:
            part.__class__ = NormOfAllRanks
    calls = []
    for iteration in range(8):
        seed_iteration(0, iteration, rank)
        losses = model(torch.randn(4, 3, 16, 16), torch.arange(4), mode='loss')
        sum(losses.values()).backward()
        calls.append(NormOfAllRanks.calls)
    return calls


@pytest.mark.slow
def test_networks_that_talk_to_other_ranks_run_on_all_of_them(tmp_path):
    """AutoMix runs its networks beside the model's: where one rank did and the other did not, both would hang."""
    first, second = on_two_ranks(train_automix_now_and_then, tmp_path)
    assert first == second
    steps = [after - before for before, after in zip([0, *first], first, strict=False)]
    assert len(set(steps)) == 2  # with AutoMix, and without
