"""Each transform of torchvision v2 by its name: what torchvision itself gives, drawn by the key of the sample."""

import pickle

import numpy as np
import pytest
import torch
from support.checked_transforms import PLACE, checked, examples, generators, photograph
from torchvision.transforms import AutoAugmentPolicy, InterpolationMode, v2

from openmix_dm.datasets import BatchEach, Digits, SampleIndex, TenCrop, TensorImages
from openmix_dm.datasets.samplers.sample_index import seed_draws
from openmix_dm.datasets.transforms.torchvision_bridge import BRIDGE, RESIZING, WARPING, to_pixels
from openmix_dm.errors import ConfigError, DataError
from openmix_dm.registry import TRANSFORMS

ALL = {name for name in dir(v2) if isinstance(getattr(v2, name), type) and issubclass(getattr(v2, name), v2.Transform)}
BLUR = {'type': 'torchvision/GaussianBlur', 'kernel_size': 5}
FLIP = {'type': 'torchvision/RandomHorizontalFlip'}
CROP = {'type': 'torchvision/RandomResizedCrop', 'size': (90, 120), 'interpolation': 'bicubic'}
CONTAINERS = {
    'torchvision/Compose': {'transforms': [FLIP, CROP, {'type': 'torchvision/RandomApply', 'transforms': [BLUR]}]},
    'torchvision/RandomApply': {'transforms': [FLIP, BLUR], 'p': 0.6},
    'torchvision/RandomChoice': {'transforms': [FLIP, BLUR, CROP], 'p': [1.0, 2.0, 1.0]},
    'torchvision/RandomOrder': {'transforms': [FLIP, CROP, BLUR]},
}
CONFIGS = {name: {**config, **CONTAINERS.get(name, {})} for name, config in examples('torchvision').items()}
each = pytest.mark.parametrize('config', CONFIGS.values(), ids=CONFIGS)


def directly(config):
    """Build it with torchvision alone."""
    arguments = {key: value for key, value in config.items() if key != 'type'}
    if 'interpolation' in arguments:
        arguments['interpolation'] = getattr(InterpolationMode, arguments['interpolation'].upper().replace('-', '_'))
    if 'dtype' in arguments:
        arguments['dtype'] = torch.uint8
    if 'transforms' in arguments:
        arguments['transforms'] = [directly(inner) for inner in arguments['transforms']]
    return getattr(v2, config['type'].split('/')[1])(**arguments)


def by_torchvision(config, seed):
    """Apply it to a tensor of its own, and return arrays."""
    pixels = torch.from_numpy(photograph().transpose(2, 0, 1).copy())
    noise = config['type'] == 'torchvision/GaussianNoise'
    torch.manual_seed(seed)
    result = directly(config)(pixels / 255 if noise else pixels)
    if isinstance(result, tuple):
        return np.stack([crop.permute(1, 2, 0).numpy() for crop in result])
    if noise:
        result = (result * 255).round().clamp(0, 255)
    result = result if isinstance(result, torch.Tensor) else v2.functional.pil_to_tensor(result)
    return result.expand(3, -1, -1).permute(1, 2, 0).numpy().astype(np.uint8)


def test_every_transform_is_used_or_refused():
    assert ALL - {'Transform'} == set(BRIDGE.usable()) | set(BRIDGE.refused)
    assert set(CONFIGS) == {f'torchvision/{name}' for name in BRIDGE.usable()}


@each
def test_it_gives_what_torchvision_gives(config):
    (transform,) = checked(config)
    for seed in range(3):
        seed_draws(seed)
        ours = transform(photograph())
        assert ours.dtype == np.uint8
        assert ours.shape[-1] == 3
        assert np.array_equal(ours, by_torchvision(config, seed))


@each
def test_the_key_of_the_sample_decides(config):
    """The same key gives the same image, in another worker and for any layout of the memory, too."""
    (transform,) = checked(config)
    again = pickle.loads(pickle.dumps(transform))
    turned = np.asfortranarray(photograph())
    for seed in (5, 6):
        results = []
        for same, image in ((transform, photograph()), (again, photograph()), (transform, turned)):
            seed_draws(seed)
            results.append(same(image))
        assert np.array_equal(results[0], results[1])
        assert np.array_equal(results[0], results[2])


@each
def test_it_says_whether_it_draws(config):
    half = {'p': 0.5} if isinstance(config.get('p'), float) else {}
    (transform,) = checked({**config, **half})
    results, drawn = [], False
    for seed in range(8):
        seed_draws(seed)
        before = generators()
        results.append(transform(photograph()))
        drawn |= generators() != before
    alike = all(np.array_equal(results[0], other) for other in results)
    assert transform.needs_draws is drawn
    assert transform.needs_draws is not alike


def test_a_container_draws_if_one_of_its_transforms_does():
    still = {'type': 'torchvision/Compose', 'transforms': [{'type': 'torchvision/CenterCrop', 'size': 8}]}
    assert not checked(still)[0].needs_draws
    assert not checked({'type': 'torchvision/Compose', 'transforms': [still, still]})[0].needs_draws
    assert checked({'type': 'torchvision/Compose', 'transforms': [still, FLIP]})[0].needs_draws
    assert checked({'type': 'torchvision/RandomApply', 'transforms': [still]})[0].needs_draws


def test_containers_hold_transforms_of_all_packages():
    mixed = [{'type': 'RandomFlip', 'prob': 1.0}, {'type': 'mmcv/Resize', 'scale': (40, 30)}, FLIP | {'p': 1.0}]
    for name, more in (('Compose', {}), ('RandomApply', {'p': 1.0})):
        (transform,) = checked({'type': f'torchvision/{name}', 'transforms': mixed, **more})
        expected = checked(mixed[1])[0](photograph())
        assert np.array_equal(transform(photograph()), expected)  # flipped twice


@pytest.mark.parametrize('name', BRIDGE.refused)
def test_others_are_refused_with_the_reason(name):
    with pytest.raises(ConfigError) as error:
        checked(FLIP, {'type': f'torchvision/{name}'})
    expected = f'{PLACE}[1].type: torchvision/{name} cannot be used here: {BRIDGE.refused[name]}'
    assert str(error.value).startswith(expected)


NESTED = {'type': 'torchvision/RandomApply', 'transforms': [FLIP, {'type': 'torchvision/GaussianBlur'}]}


@pytest.mark.parametrize(
    ('config', 'said'),
    [
        ({'type': 'torchvision/ColorJiter'}, r'\[0\]\.type: .*; did you mean torchvision/ColorJitter\?'),
        ({'type': 'ColorJitter'}, r'\[0\]\.type: .*; did you mean torchvision/ColorJitter\?'),
        ({'type': 'torchvision/ColorJitter', 'brigtness': 0.4}, r'\[0\]\.brigtness .*; did you mean brightness\?'),
        ({'type': 'torchvision/ColorJitter', 'brightness': -1.0}, r'\[0\]: .*must be non negative'),
        ({'type': 'torchvision/ColorJitter', 'brightness': 'much'}, r'\[0\]: '),
        ({'type': 'torchvision/RandomCrop', 'size': 8, 'pad_if_needed': 3}, r'\[0\]\.pad_if_needed must be True or'),
        ({'type': 'torchvision/RandomCrop'}, r'\[0\]: torchvision/RandomCrop needs size'),
        ({'type': 'torchvision/ToDtype', 'dtype': 'float32'}, r"\[0\]: .*dtype must be 'uint8'.* until the model norm"),
        ({'type': 'torchvision/ConvertImageDtype'}, r"\[0\]: .*dtype must be 'uint8'.* until the model normalises"),
        ({'type': 'torchvision/ToPILImage', 'mode': 'L'}, r"\[0\]: .*mode must be 'RGB' or None"),
        ({'type': 'torchvision/RandomErasing', 'value': 'random'}, r'\[0\]: .*model\.data_preprocessor\.erasing'),
        ({'type': 'torchvision/RandomErasing', 'value': [1, 2]}, r'\[0\]: .*fails whatever the size'),
        ({'type': 'torchvision/Resize', 'size': 8, 'interpolation': 'box'}, r'\[0\]: .*one of nearest, nearest-exact'),
        ({'type': 'torchvision/RandomRotation', 'degrees': 8, 'interpolation': 'bicubic'}, r'one of nearest, bilinear'),
        ({'type': 'torchvision/AutoAugment', 'policy': 'mnist'}, r'\[0\]: .*one of imagenet, cifar10, svhn'),
        ({'type': 'torchvision/RandomPosterize', 'bits': 9, 'p': 0.01}, r'\[0\]: .*range \[0, 8\]'),
        ({'type': 'torchvision/RandAugment', 'magnitude': 31}, r'\[0\]: .*IndexError'),
        ({'type': 'torchvision/Grayscale', 'num_output_channels': 4}, r'\[0\]: .*must be 1 or 3'),
        (NESTED, r'\[0\]\.transforms\[1\]: torchvision/GaussianBlur needs kernel_size'),
        (
            {**NESTED, 'transforms': [{'type': 'torchvision/RandomOrder', 'transforms': [FLIP, {'type': 'Flip'}]}]},
            r'\[0\]\.transforms\[0\]\.transforms\[1\]\.type: there is no transform',
        ),
        ({'type': 'torchvision/RandomChoice', 'transforms': []}, r'\[0\]: .*at least one transform'),
        ({'type': 'torchvision/RandomChoice', 'transforms': FLIP}, r'\[0\]: .*should be a sequence'),
    ],
)  # fmt: skip
def test_mistakes_are_found_by_the_check(config, said):
    before = generators()
    with pytest.raises(ConfigError, match=said) as error:
        checked(config)
    assert str(error.value).startswith(PLACE)
    assert generators() == before  # although it was tried


@pytest.mark.parametrize('config', [{'size': 300}, {'size': 50, 'padding': 90, 'padding_mode': 'reflect'}], ids=str)
def test_what_fits_some_images_only_passes_the_check(config):
    (crop,) = checked({'type': 'torchvision/RandomCrop', **config})
    assert crop(np.zeros((310, 320, 3), np.uint8)).shape == (config['size'], config['size'], 3)
    with pytest.raises(DataError, match='torchvision/RandomCrop fails on an image of 40 x 60 pixels: '):
        crop(np.zeros((40, 60, 3), np.uint8))


@pytest.mark.parametrize('interpolation', RESIZING)
def test_interpolations_of_resizing(interpolation):
    config = {'type': 'torchvision/Resize', 'size': 50, 'interpolation': interpolation}
    assert np.array_equal(checked(config)[0](photograph()), by_torchvision(config, 0))


@pytest.mark.parametrize('interpolation', WARPING)
def test_interpolations_of_warping(interpolation):
    config = {'type': 'torchvision/RandomAffine', 'degrees': 30, 'interpolation': interpolation}
    (transform,) = checked(config)
    seed_draws(3)
    assert np.array_equal(transform(photograph()), by_torchvision(config, 3))


def test_policies_are_those_of_torchvision():
    for policy in AutoAugmentPolicy:
        (transform,) = checked({'type': 'torchvision/AutoAugment', 'policy': policy.value})
        seed_draws(1)
        torch_itself = v2.AutoAugment(policy)
        ours = transform(photograph())
        torch.manual_seed(1)
        theirs = torch_itself(torch.from_numpy(photograph().transpose(2, 0, 1).copy()))
        assert np.array_equal(ours, theirs.permute(1, 2, 0).numpy())


def test_images_are_not_copied_on_their_way_in():
    image = photograph().copy()
    assert np.shares_memory(to_pixels(image).numpy(), image)
    for other in (image[:, ::-1], image[10:50:2, ::3]):  # torch knows no negative strides
        (flip,) = checked({'type': 'torchvision/RandomHorizontalFlip', 'p': 1.0})
        assert np.array_equal(flip(other), other[:, ::-1])


def test_ten_crops_are_ours():
    (crops,) = checked({'type': 'torchvision/TenCrop', 'size': 64})
    assert np.array_equal(crops(photograph()), TenCrop(64)(photograph()))
    with pytest.raises(DataError, match='makes them comes last'):
        crops(crops(photograph()))
    with pytest.raises(ConfigError, match='makes them comes last'):
        checked({'type': 'torchvision/Compose', 'transforms': [{'type': 'TenCrop', 'size': 64}, FLIP]})


def test_grey_images_have_three_channels():
    (one,), (three,) = (checked({'type': 'torchvision/Grayscale', 'num_output_channels': count}) for count in (1, 3))
    assert np.array_equal(one(photograph()), three(photograph()))


def test_noise_beyond_the_range_is_cut_off():
    (noise,) = checked({'type': 'torchvision/GaussianNoise', 'mean': 2.0, 'clip': False})
    assert np.array_equal(noise(photograph()), np.full_like(photograph(), 255))


def test_batches_are_told_what_to_do():
    jitter = {'type': 'torchvision/ColorJitter', 'brightness': 0.4}
    alone = Digits('train', transforms=[jitter])
    with pytest.raises(DataError, match=r"BatchEach', transforms=\[dict\(type='torchvision/ColorJitter'"):
        alone.__getitems__([SampleIndex(0, 1)])
    images = torch.from_numpy(photograph().transpose(2, 0, 1).copy())[None].repeat(3, 1, 1, 1)
    data = TensorImages(images, torch.arange(3), [{'type': 'BatchEach', 'transforms': [jitter]}])
    batch = data.__getitems__([SampleIndex(0, 7), SampleIndex(1, 8), SampleIndex(2, 7)])['inputs']
    assert np.array_equal(batch[0].permute(1, 2, 0).numpy(), by_torchvision(jitter, 7))
    assert torch.equal(batch[0], batch[2])
    assert not torch.equal(batch[0], batch[1])
    assert torch.equal(BatchEach([jitter])(images, None), images)  # an evaluation leaves it out


def test_classes_stand_for_their_names():
    from torchvision import transforms as v1

    expected = type(checked({'type': 'torchvision/ColorJitter'})[0])
    assert type(checked({'type': v2.ColorJitter})[0]) is expected
    assert type(TRANSFORMS.build({'type': v1.ColorJitter})) is expected
    assert type(checked({'type': 'torchvision.transforms.v2.ColorJitter'})[0]) is expected
    assert TRANSFORMS.get('openmix_dm.torchvision/ColorJitter') is expected
