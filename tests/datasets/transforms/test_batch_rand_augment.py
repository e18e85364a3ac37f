"""Whole batches against Pillow, image by image, by the same draws; what is drawn; who it depends on."""

import pickle
import random

import numpy as np
import pytest
import torch
from PIL import Image, ImageEnhance, ImageOps
from support.pillow_pictures import SIZES, tensors
from timm.data.auto_augment import AugmentOp, rand_augment_transform
from torch.utils.data import DataLoader

from openmix_dm.compat import posterize
from openmix_dm.datasets import BatchFixMatchRandAugment, BatchRandAugment, SampleIndex, TensorImages
from openmix_dm.datasets.samplers.sample_index import BatchDraws
from openmix_dm.datasets.transforms import rand_augment
from openmix_dm.datasets.transforms.augment_levels import FIXMATCH, FIXMATCH_EITHER_WAY
from openmix_dm.datasets.transforms.batch_affine import MATRICES
from openmix_dm.datasets.transforms.batch_rand_augment import LEFT_OUT, TIMM_OPERATIONS, cover_squares

BOTH = [BatchFixMatchRandAugment, BatchRandAugment]
SAMPLES = [SampleIndex(i, 900 + 7 * i) for i in range(12)]
FOURTEEN = list(FIXMATCH)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def picture(image):
    return Image.fromarray(image.permute(1, 2, 0).numpy())


def array(picture):
    return torch.from_numpy(np.array(picture)).permute(2, 0, 1)


# FixMatch's: the draws replayed through the form of one image


def fixmatch_by_pillow(transform, images, seed, monkeypatch):
    """Repeat the draws of a batch, and hand each to the Pillow form."""
    draws = generator(seed)
    rounds = transform.draw(len(images), draws)
    squares = torch.rand(3, len(images), generator=draws, dtype=torch.float64).numpy()
    results = []
    for place, image in enumerate(images):
        done = picture(image)
        for kind, level, sign in zip(*(part[:, place] for part in vars(rounds).values()), strict=True):
            monkeypatch.setattr(random, 'random', lambda sign=sign: 0.1 if sign < 0 else 0.9)
            resample = rand_augment.RESAMPLING[transform.interpolation]
            done = rand_augment.OPERATIONS[FOURTEEN[kind]](done, float(level), resample)
        size, y, x = squares[:, place]
        numbers = iter([y * done.height, x * done.width])
        monkeypatch.setattr(random, 'uniform', lambda low, high, numbers=numbers: next(numbers))
        square = size * 0.5 * done.width
        results.append(array(rand_augment.cut_square(np.array(done), square, (125, 123, 114))))
    return torch.stack(results)


@pytest.mark.parametrize('size', SIZES)
@pytest.mark.parametrize('interpolation', ['nearest', 'bilinear', 'bicubic'])
def test_fixmatchs_pixels_are_pillows(size, interpolation, monkeypatch):
    transform, images = BatchFixMatchRandAugment(n=4, interpolation=interpolation), tensors(*size)
    for seed in range(5):
        ours = transform(images, generator(seed))
        assert torch.equal(ours, fixmatch_by_pillow(transform, images, seed, monkeypatch))


def test_fixmatch_draws_all_alike_and_levels_up_to_m():
    rounds = BatchFixMatchRandAugment(n=3, m=5).draw(4000, generator())
    counts = np.bincount(rounds.operation.ravel(), minlength=14)
    assert np.abs(counts - 12000 / 14).max() < 4.5 * (12000 / 14) ** 0.5
    levels = np.sort(rounds.level.ravel())
    assert np.abs(levels - np.linspace(0, 0.5, 12000)).max() < 0.5 * 1.95 / 12000**0.5  # Kolmogorov-Smirnov, 0.1 %
    assert set(rounds.sign.ravel()) == {-1, 1}
    assert abs(rounds.sign.mean()) < 4.5 / 12000**0.5
    together = np.corrcoef([rounds.operation[0], rounds.operation[1], rounds.level[0], rounds.sign[0]])
    assert np.abs(together - np.eye(4)).max() < 4.5 / 4000**0.5


def test_the_square_is_centred_anywhere_and_clipped():
    white = np.full((3000, 3, 30, 40), 255, dtype=np.uint8)
    cover_squares(white, np.random.default_rng(0).random((3, 3000)))
    painted = (white != 255).any(axis=1)
    assert (white.transpose(0, 2, 3, 1)[painted] == (125, 123, 114)).all()
    rows, columns = painted.any(axis=2).sum(axis=1), painted.any(axis=1).sum(axis=1)
    assert np.array_equal(painted.sum(axis=(1, 2)), rows * columns)
    assert (rows.max(), columns.max(), columns.min()) == (20, 20, 0)
    # A side s is uniform in [0, 20]; at each end s / 2 / length are cut, by s / 4 on average: E[s^2] = 400 / 3.
    assert abs(columns.mean() - (10 - 2 * 400 / 3 / 8 / 40)) < 0.4
    assert abs(rows.mean() - (10 - 2 * 400 / 3 / 8 / 30)) < 0.4


# timm's: the draws handed to timm's own operations


def timm_by_pillow(transform, images, policy, seed, monkeypatch):
    rounds = transform.draw(len(images), generator(seed))
    settings = {'img_mean': transform.fill, 'interpolation': rand_augment.RESAMPLING[transform.interpolation]}
    theirs = {op.name.removesuffix('Increasing').removesuffix('Rel'): op.name for op in timms(policy).ops}
    results = []
    for place, image in enumerate(images):
        done = picture(image)
        for kind, level, sign in zip(*(part[:, place] for part in vars(rounds).values()), strict=True):
            name = None if kind == LEFT_OUT else transform.operations[kind]
            if name not in (None, 'Identity'):
                monkeypatch.setattr(random, 'random', lambda sign=sign: 0.9 if sign < 0 else 0.1)
                operation = AugmentOp(theirs[name], 1.0, level * 10, settings | {'magnitude_max': 99})
                operation.aug_fn = posterize if name == 'Posterize' else operation.aug_fn
                done = operation(done)
        results.append(array(done))
    return torch.stack(results)


def timms(policy):
    return rand_augment_transform(policy, {'img_mean': (124, 116, 104)})


@pytest.mark.parametrize('size', SIZES)
@pytest.mark.parametrize('policy', ['rand-m7-n2-mstd0.5', 'rand-m9-n4-p1-mstd101-inc1', 'rand-m9-n3-mstd2-mmax14'])
@pytest.mark.parametrize('interpolation', ['nearest', 'bilinear', 'bicubic'])
def test_timms_pixels_are_pillows(size, policy, interpolation, monkeypatch):
    transform, images = BatchRandAugment(policy, interpolation=interpolation), tensors(*size)
    for seed in range(3):
        ours = transform(images, generator(seed))
        assert torch.equal(ours, timm_by_pillow(transform, images, policy, seed, monkeypatch))


@pytest.mark.parametrize(
    'text', ['rand', 'rand-m7-n2-mstd0.5', 'rand-m9-p1-mstd101-inc1', 'rand-m12-n4-p0.3-mmax15-inc0', 'rand-mmax0']
)
def test_policies_are_read_as_timm_reads_them(text):
    policy, theirs = BatchRandAugment(text).policy, timms(text)
    one = theirs.ops[0]
    assert (policy.count, policy.prob, policy.magnitude) == (theirs.num_layers, one.prob, one.magnitude)
    assert policy.bound == (one.magnitude_max or 10)
    assert policy.increasing == any(op.name.endswith('Increasing') for op in theirs.ops)
    deviation = one.magnitude_std
    assert policy.deviation == deviation or (deviation == float('inf') and policy.deviation > 100)


def test_timm_draws_each_alike_and_half_of_them():
    rounds = BatchRandAugment('rand-m7-n2-mstd0.5').draw(6000, generator())
    applied = rounds.operation[rounds.operation != LEFT_OUT]
    assert abs(len(applied) - 6000) < 4.5 * 3000**0.5
    counts = np.bincount(applied, minlength=15)
    assert len(counts) == 15
    assert np.abs(counts - 400).max() < 4.5 * 400**0.5
    assert abs(rounds.level.mean() - 0.7) < 4.5 * 0.05 / 12000**0.5
    assert abs(rounds.level.std() - 0.05) < 0.002
    bounded = BatchRandAugment('rand-m9-mstd2').draw(2000, generator()).level
    assert (bounded.max(), bounded.min() > 0) == (1.0, True)
    uniform = np.sort(BatchRandAugment('rand-m8-mstd101').draw(2000, generator()).level.ravel())
    assert np.abs(uniform - np.linspace(0, 0.8, 4000)).max() < 0.8 * 1.95 / 4000**0.5
    assert set(BatchRandAugment('rand-m5').draw(9, generator()).level.ravel()) == {0.5}


def test_never_and_always():
    images = tensors()
    assert torch.equal(BatchRandAugment('rand-m9-p0')(images, generator()), images)
    inverted = BatchRandAugment('rand-m9-n1-p1', operations=['Invert'])(images, generator())
    assert torch.equal(inverted, 255 - images)
    assert torch.equal(BatchRandAugment('rand-p1', operations=['Identity'])(images, generator()), images)


def test_the_set_of_operations_is_an_argument(monkeypatch):
    """FixMatch's fourteen at timm's magnitudes."""
    transform, images = BatchRandAugment('rand-m7-n2-mstd0.5', operations=FOURTEEN), tensors()
    drawn = transform.draw(500, generator()).operation
    assert set(drawn.ravel()) == {LEFT_OUT, *range(14)}
    expected = timm_by_pillow(transform, images, 'rand-m7-n2-mstd0.5', 3, monkeypatch)
    assert torch.equal(transform(images, generator(3)), expected)
    assert set(TIMM_OPERATIONS) - set(FOURTEEN) == {'Invert', 'SolarizeAdd'}


def released(image, name, level, sign):
    """FixMatch's operation as the released recipes have it: the range (low, high) of their config at a level."""

    def between(low, high):
        return low + level * (high - low)

    if name in ('Brightness', 'Color', 'Contrast', 'Sharpness'):
        return getattr(ImageEnhance, name)(image).enhance(1 + sign * between(0.05, 0.95))
    if name in ('AutoContrast', 'Equalize'):
        return getattr(ImageOps, name.lower())(image)
    if name == 'Posterize':
        return ImageOps.posterize(image, int(between(4, 8)))
    if name == 'Solarize':
        return image.point(lambda value: value if value < between(256, 0) else 255 - value)
    assert name == 'Identity'
    return image


def test_fixmatchs_fourteen_have_the_released_ranges(monkeypatch):
    transform, images = BatchRandAugment('rand-m7-n2-p1-mstd0.5', operations='fixmatch'), tensors()
    assert transform.operations == tuple(FOURTEEN)
    compared = set()
    for seed in range(12):
        rounds, ours = transform.draw(len(images), generator(seed)), transform(images, generator(seed))
        for place, image in enumerate(images):
            done = picture(image)
            names = [transform.operations[kind] for kind in rounds.operation[:, place]]
            if not set(names) & set(MATRICES):  # moves are those of FixMatch, compared below
                for name, level, sign in zip(names, rounds.level[:, place], rounds.sign[:, place], strict=True):
                    done = released(done, name, float(level), int(sign))
                assert torch.equal(ours[place], array(done)), names
                compared.update(names)
    assert compared == set(FOURTEEN) - set(MATRICES)
    for name in MATRICES:
        assert FIXMATCH_EITHER_WAY[name](0.7, -1) == FIXMATCH[name](0.7, -1)
        assert FIXMATCH_EITHER_WAY[name](1.0, 1) == (30 if name == 'Rotate' else 0.3)


# both


@pytest.mark.parametrize('transform', BOTH)
def test_drawn_by_the_generator_alone_and_image_by_image(transform):
    images = tensors(12, 20)
    copy, states = images.clone(), (random.getstate(), torch.get_rng_state())
    one, two, other = (transform()(images, generator(seed)) for seed in (1, 1, 2))
    assert torch.equal(one, two)
    assert not torch.equal(one, other)
    assert (one.dtype, one.shape, one.is_contiguous()) == (torch.uint8, images.shape, True)
    assert torch.equal(images, copy)
    assert (random.getstate(), torch.get_rng_state().tolist()) == (states[0], states[1].tolist())
    same = transform()(images[:1].expand(40, -1, -1, -1), generator())
    assert len({each.numpy().tobytes() for each in same}) > 15


def dataset(transform, **settings):
    images = tensors()[:12]
    return TensorImages(images, torch.arange(12), [{'type': transform.__name__, **settings}])


@pytest.mark.parametrize('transform', BOTH)
def test_draws_are_a_function_of_the_keys(transform):
    data = dataset(transform)
    first, again = (data.__getitems__(SAMPLES)['inputs'] for _ in range(2))
    assert torch.equal(first, again)
    assert torch.equal(first, transform()(data.images, BatchDraws([sample.key for sample in SAMPLES])))
    other = data.__getitems__([SampleIndex(sample.image, sample.key + 1) for sample in SAMPLES])
    assert not torch.equal(first, other['inputs'])
    assert torch.equal(data.__getitems__(range(12))['inputs'], data.images)  # evaluation leaves it out


@pytest.mark.parametrize('transform', BOTH)
def test_any_worker_gives_the_same(transform):
    data = dataset(transform)
    batches = [SAMPLES[:5], SAMPLES[5:], SAMPLES[::-1]]
    here, there = (
        [batch['inputs'] for batch in DataLoader(data, batch_sampler=batches, num_workers=count, collate_fn=dict)]
        for count in (0, 2)
    )
    assert all(torch.equal(one, two) for one, two in zip(here, there, strict=True))


@pytest.mark.parametrize('transform', BOTH)
def test_can_be_sent_to_a_worker_that_is_spawned(transform):
    images, made = tensors(), transform()
    assert torch.equal(pickle.loads(pickle.dumps(made))(images, generator()), made(images, generator()))


@pytest.mark.parametrize('transform', BOTH)
@pytest.mark.parametrize('size', [(8, 8), (64, 64), (5, 3), (1, 1)])
def test_one_image_of_any_size(transform, size):
    image = tensors(*size)[:1]
    for seed in range(30):
        assert transform()(image, generator(seed)).shape == image.shape


@pytest.mark.parametrize('transform', BOTH)
def test_no_image_and_images_in_another_order_of_memory(transform):
    images = tensors()
    assert transform()(images[:0], generator()).shape == (0, 3, 32, 32)
    channels_last = transform()(images.to(memory_format=torch.channels_last), generator())
    assert torch.equal(channels_last, transform()(images, generator()))


@pytest.mark.parametrize('transform', BOTH)
def test_other_images_are_refused(transform):
    for wrong in (torch.zeros(2, 1, 8, 8, dtype=torch.uint8), torch.zeros(2, 3, 8, 8), torch.zeros(3, 8, 8).byte()):
        with pytest.raises(ValueError, match=r'uint8 \(N, 3, H, W\)'):
            transform()(wrong, generator())


@pytest.mark.parametrize(
    ('transform', 'settings', 'words'),
    [
        (BatchFixMatchRandAugment, {'n': 0}, 'n must be a number of operations, 1 or more, got 0'),
        (BatchFixMatchRandAugment, {'n': 2.5}, 'n must be .* got 2.5'),
        (BatchFixMatchRandAugment, {'m': 1}, 'm must be 2 to 10 tenths .* got 1'),
        (BatchFixMatchRandAugment, {'m': 11}, 'm must be 2 to 10 tenths .* got 11'),
        (BatchFixMatchRandAugment, {'interpolation': 'area'}, "interpolation must be one of .* got 'area'"),
        (BatchRandAugment, {'interpolation': 'random'}, "interpolation must be one of .* got 'random'"),
        (BatchRandAugment, {'policy': 'rand-m9-mst0.5'}, "policy must be .* 'mst0.5'"),
        (BatchRandAugment, {'policy': 'rand-m9-tweights'}, "'tweights' here: choose by operations"),
        (BatchRandAugment, {'fill': (1, 2)}, 'fill must be three'),
        (BatchRandAugment, {'operations': 'Rotate'}, "operations must be 'fixmatch' or a list .* got 'Rotate'"),
        (BatchRandAugment, {'operations': 'fixmatch'}, "leave inc1 out of policy, got 'rand-m9-mstd0.5-inc1'"),
        (BatchRandAugment, {'operations': ['Rotate', 'Blur']}, "operations must be one of .* got 'Blur'"),
        (BatchRandAugment, {'operations': []}, 'at least one'),
        (BatchRandAugment, {'operations': ['Rotate', 'Rotate']}, 'different names'),
        (BatchRandAugment, {'operations': 'Rotate'}, "list of different names, at least one, got 'Rotate'"),
    ],
)
def test_bad_settings_are_refused(transform, settings, words):
    with pytest.raises(ValueError, match=words):
        transform(**settings)
