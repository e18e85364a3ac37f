"""The seven promises of the mixer contract, over the whole registry."""

import pytest
import torch
from support.mixer_examples import (
    LEARNED,
    REMEMBERING,
    AnyModel,
    build,
    case_id,
    cases,
    example,
    registered,
    remember,
)

from openmix_dm.mixers import MaskMixer, Mixer
from openmix_dm.structures import MixedBatch, Outputs

CASES = pytest.mark.parametrize('case', cases(), ids=case_id)
SHAPES = [(1, 3, 8, 8), (2, 3, 8, 8), (7, 3, 9, 14), (16, 1, 16, 16)]


class ProbeOfNothing:
    """A probe that answers without a model, so that each mixer can be tried alone."""

    def saliency(self, inputs, labels):
        return inputs.abs()

    def features(self, inputs, stage):
        return inputs

    def attention(self, inputs):
        return inputs.new_ones(inputs.shape[0], 4, 4)

    def outputs(self, inputs, wants=()):
        grid = inputs.mean(dim=1)
        tokens = torch.nn.functional.adaptive_avg_pool2d(grid, 4)
        kinds = {
            'attention': tokens, 'received': tokens, 'map': inputs, 'tokens': tokens.flatten(1)[:, :, None],
        }  # fmt: skip
        return Outputs(inputs.flatten(1)[:, :50].float(), **{want: kinds[want] for want in wants})

    def class_map(self, inputs, labels):
        return torch.nn.functional.adaptive_avg_pool2d(inputs.mean(dim=1).float().abs(), 4)

    def denormalise(self, inputs):
        return inputs


def images(shape=(8, 3, 16, 16), dtype=torch.float32):
    return torch.rand(shape).to(dtype)


def mix(case, inputs, labels=None, seed=0, **options) -> MixedBatch:
    torch.manual_seed(seed)
    labels = torch.arange(len(inputs)) if labels is None else labels
    mixer = remember(build(*case).to(inputs.device), inputs, labels)
    return mixer(inputs, labels, ProbeOfNothing(), **options)


def rows_of(batch: MixedBatch) -> torch.Tensor | None:
    """Return the partners of a batch, if they are rows of it."""
    if batch.partners is None:
        return batch.index
    with pytest.raises(ValueError, match='no rows of the batch'):
        _ = batch.index
    return None


def finished(batch: MixedBatch) -> torch.Tensor:
    """The mixed tensor, wherever in the network it is to be mixed."""
    return batch.hidden.mix(batch.inputs) if batch.hidden else batch.inputs


@pytest.mark.parametrize('name', registered())
def test_every_registered_mixer_can_be_built_from_its_example(name):
    assert type(build(name, example(name))).__name__ == name


@CASES
@pytest.mark.parametrize('shape', SHAPES, ids=str)
def test_1_inputs_and_labels_are_never_changed(case, shape):
    inputs, labels = images(shape), torch.arange(shape[0])
    kept = inputs.clone(), labels.clone()
    for seed in range(5):
        mix(case, inputs, labels, seed)
    assert torch.equal(inputs, kept[0])
    assert torch.equal(labels, kept[1])


@CASES
def test_2_the_own_side_has_weight_lam_in_labels_and_pixels(case):
    """Sample 0 is all ones and all others are zeros: what is left of the ones in sample 0 is lam."""
    mixer = build(*case)
    for seed in range(20):
        inputs = torch.zeros(5, 3, 16, 16)
        inputs[0] = 1
        batch = mix(case, inputs, seed=seed)
        labels = torch.arange(5)
        assert torch.equal(batch.target.y_a, labels)
        rows = rows_of(batch)
        if rows is None:
            assert torch.equal(batch.target.y_b, batch.target.rows_b.argmax(dim=1))
        else:
            assert torch.equal(batch.target.y_b, labels[rows])
        assert batch.target.lam.shape == (5,)
        assert batch.target.lam.dtype == torch.float32
        if mixer.label_from == 'pixels' and (rows is None or rows[0] != 0):
            assert finished(batch)[0].mean().item() == pytest.approx(batch.target.lam[0].item(), abs=1e-5)


@CASES
def test_3_lam_is_the_mean_of_the_mask(case):
    for seed in range(10):
        batch = mix(case, images((5, 3, 9, 14)), seed=seed)
        if batch.mask is None:
            continue
        assert batch.mask.dtype == torch.float32
        assert batch.mask.shape[0] in (1, 5)
        assert batch.mask.shape[1:] == (1, 9, 14)
        if build(*case).label_from == 'pixels':
            torch.testing.assert_close(batch.target.lam, batch.mask.mean(dim=(1, 2, 3)).expand(5))


@CASES
def test_3_the_mask_says_where_each_side_is(case):
    inputs = images((5, 3, 9, 14))
    batch = mix(case, inputs)
    if isinstance(build(*case), MaskMixer) and batch.mask is not None:
        expected = batch.mask * inputs + (1 - batch.mask) * inputs[batch.index]
        torch.testing.assert_close(batch.inputs, expected)


@CASES
@pytest.mark.parametrize('dtype', [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize('shape', SHAPES, ids=str)
def test_4_any_batch_any_image_any_float(case, shape, dtype):
    batch = mix(case, images(shape, dtype))
    assert batch.inputs.shape == shape
    assert batch.inputs.dtype == dtype
    assert batch.inputs.isfinite().all()
    assert ((batch.target.lam >= 0) & (batch.target.lam <= 1)).all()
    rows = rows_of(batch)
    assert rows is None or sorted(rows.tolist()) == list(range(shape[0]))


@CASES
def test_4_autocast_changes_nothing(case):
    inputs = images()
    plain = mix(case, inputs)
    with torch.autocast('cpu', dtype=torch.bfloat16):
        inside = mix(case, inputs)
    assert inside.inputs.dtype == plain.inputs.dtype
    torch.testing.assert_close(finished(inside), finished(plain))
    assert torch.equal(inside.target.lam, plain.target.lam)


@CASES
def test_5_the_same_seed_gives_the_same_batch(case):
    import random

    import numpy as np

    inputs = images()
    random.seed(1), np.random.seed(1)
    first = mix(case, inputs, seed=3)
    random.seed(2), np.random.seed(2)
    second = mix(case, inputs, seed=3)
    assert torch.equal(first.inputs, second.inputs)
    assert torch.equal(first.target.lam, second.target.lam)
    assert rows_of(first) is None or torch.equal(first.index, second.index)


@CASES
def test_5_one_lam_for_the_batch_or_one_for_each_sample(case):
    mixer = build(*case)
    if case[0] in ('NoMix', 'RandomMixer', 'GuidedMixup', 'SMMix'):
        pytest.skip('draws no lam of its own; the side of a window in test_smmix.py')
    drawn = [mixer.draw_lam(8, torch.device('cpu')) for _ in range(3)]
    assert all(isinstance(lam, torch.Tensor) == mixer.per_sample for lam in drawn)
    if mixer.per_sample:
        assert len(set(drawn[0].tolist())) > 1
    assert len({str(lam) for lam in drawn}) == 3


@CASES
def test_6_nothing_waits_for_the_device(case):
    """A meta tensor has no values: reading one on the way would raise."""
    inputs = torch.empty(6, 3, 16, 16, device='meta')
    labels = torch.empty(6, dtype=torch.long, device='meta')
    for seed in range(5):
        batch = mix(case, inputs, labels, seed)
        for tensor in (batch.inputs, batch.target.y_b, batch.target.lam, rows_of(batch)):
            assert tensor is None or tensor.is_meta
        assert finished(batch).shape == inputs.shape


@CASES
def test_7_the_model_is_asked_through_the_probe_only(case):
    """No mixer holds the model: what is not its own submodule is not reachable from it."""
    mixer = build(*case)
    model = AnyModel() if mixer.needs_model else torch.nn.Linear(2, 2)
    mixer.attach(model)
    assert not set(model.modules()) & set(mixer.modules())
    mixer.after_step(model)


@pytest.mark.parametrize('name', registered())
def test_7_only_what_learns_gets_a_gradient(name):
    """A mixer's own losses reach its own trainable parameters, and all of them; networks that it copied are frozen."""
    inputs, labels = images().requires_grad_(), torch.arange(8)
    mixer = remember(build(name, example(name)), inputs, labels)
    batch = mixer(inputs, labels, ProbeOfNothing())
    losses = {**batch.losses}
    if name in REMEMBERING:  # learns by what the model made of the batch
        losses |= batch.finish(Outputs(torch.randn(8, 50), map=torch.randn(8, 8, 4, 4)))[1]
    assert all(key.startswith('loss_') for key in losses)
    learned = [parameter for parameter in mixer.parameters() if parameter.requires_grad]
    assert bool(losses) == bool(learned) == (name in (*LEARNED, *REMEMBERING))
    if losses:
        sum(losses.values()).backward()
        assert all(parameter.grad is not None for parameter in learned)


@CASES
def test_a_given_lam_is_honoured(case):
    if case[0] == 'NoMix':
        pytest.skip('has no lam to give')
    if case[0] == 'PuzzleMix':
        pytest.skip('lam is the prior of a cut, which saliency may overrule; see test_puzzle_puzzlemix.py')
    if case[0] == 'GuidedMixup':
        pytest.skip('saliency alone decides, and a given lam is ignored; see test_guidedmixup.py')
    inputs = images((6, 3, 32, 32))
    for lam in (0.0, 0.25, 1.0):
        batch = mix(case, inputs, lam=lam)
        # a cutting mixer may show more of the own image than asked for, where its region meets the border
        assert (batch.target.lam >= lam - 0.1).all()
    each = torch.tensor([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert (mix(case, inputs, lam=each).target.lam >= each - 0.1).all()
    for wrong in (-0.1, 1.1, float('nan'), torch.rand(5)):
        with pytest.raises(ValueError, match='lam'):
            mix(case, inputs, lam=wrong)


@CASES
def test_pair_mixes_two_streams_and_changes_neither(case):
    own, other = torch.ones(4, 3, 16, 16), torch.zeros(4, 3, 16, 16)
    mixer = build(*case)
    asks = case[0] in (*REMEMBERING, 'SMMix') or case[1].get('saliency') == 'gradient'
    if asks or case[1].get('images') == 3:
        with pytest.raises(ValueError, match=r'no pairs|needs labels and a model'):
            mixer.pair(own, other, 0.3)
        return
    pair = mixer.pair(own, other, 0.3)
    assert pair.lam.shape == (4,)
    mixed = pair.hidden.mix(pair.inputs) if pair.hidden else pair.inputs
    if mixer.label_from == 'pixels':
        torch.testing.assert_close(mixed.mean(dim=(1, 2, 3)), pair.lam)
    assert own.min() == 1
    assert other.max() == 0
    with pytest.raises(ValueError, match='one shape'):
        mixer.pair(own, other[:2], 0.3)


@CASES
def test_an_empty_batch_stays_empty(case):
    mixer, inputs = build(*case), torch.zeros(0, 3, 16, 16)
    batch = mixer(inputs, torch.zeros(0, dtype=torch.long), ProbeOfNothing())
    assert batch.inputs.shape == inputs.shape
    assert (batch.hidden, batch.after, batch.losses, batch.further) == (None, None, {}, ())
    target = batch.target
    for values, dtype in ((target.y_a, torch.int64), (target.y_b, torch.int64), (target.lam, torch.float32)):
        assert values.shape == (0,)
        assert values.dtype == dtype
    assert torch.equal(batch.index, torch.zeros(0, dtype=torch.long))
    pair = mixer.pair(inputs, inputs, 0.3)
    assert (pair.inputs.shape, pair.lam.shape, pair.lam.dtype) == (inputs.shape, (0,), torch.float32)
    with pytest.raises(ValueError, match='labels'):
        mixer(inputs, torch.zeros(1, dtype=torch.long))


@pytest.mark.parametrize('name', registered())
@pytest.mark.parametrize(
    ('inputs', 'labels', 'said'),
    [
        (torch.zeros(2, 3, 4, 4, dtype=torch.uint8), torch.zeros(2, dtype=torch.long), 'uint8'),
        (torch.zeros(3, 4, 4), torch.zeros(3, dtype=torch.long), 'shape'),
        (torch.zeros(2, 3, 4, 4), torch.zeros(3, dtype=torch.long), 'labels'),
        (torch.zeros(2, 3, 4, 4), torch.zeros(2, 10), 'labels'),
    ],
)
def test_bad_batches_are_refused(name, inputs, labels, said):
    with pytest.raises(ValueError, match=said):
        build(name, example(name))(inputs, labels)


@pytest.mark.parametrize('name', [name for name in registered() if 'alpha' in example(name)])
@pytest.mark.parametrize('alpha', [0, -1, float('nan'), float('inf'), '1', True])
def test_alpha_must_be_positive(name, alpha):
    with pytest.raises(ValueError, match='alpha'):
        build(name, {**example(name), 'alpha': alpha})


def test_mixers_take_no_unknown_arguments():
    for name in registered():
        with pytest.raises(TypeError):
            build(name, {**example(name), 'no_such_argument': 1})


def test_the_base_class_says_what_is_missing():
    with pytest.raises(NotImplementedError, match='mix'):
        Mixer(alpha=1.0)(images(), torch.arange(8))


@CASES
def test_draws_stay_on_the_host_whatever_the_default_device(case):
    with torch.device('meta'):
        inputs, labels = torch.empty(6, 3, 16, 16), torch.empty(6, dtype=torch.long)
        batch = mix(case, inputs, labels)
    assert batch.inputs.is_meta
