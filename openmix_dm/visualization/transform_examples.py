"""One config of each transform that can be used, with arguments that let its effect be seen."""

import inspect
import re
from typing import Any

from openmix_dm.registry import SCOPE, TRANSFORMS
from openmix_dm.utils.signatures import arguments_of

SIDE = 256  # of the photograph; the arguments below are made for it
FLIP, BLUR = {'type': 'RandomFlip', 'prob': 1.0}, {'type': 'torchvision/GaussianBlur', 'kernel_size': 15, 'sigma': 4.0}
INVERT = {'type': 'torchvision/RandomInvert', 'p': 1.0}
# Arguments with which each transform is applied for certain, and is seen.
SHOWN: dict[str, dict[str, Any]] = {
    'BatchCutout': {'size': 0.8},
    'BatchEach': {'transforms': [FLIP, INVERT]},
    'BatchRandomCrop': {'padding': 40},
    'BatchRandomFlip': {'prob': 1.0},
    'BatchResize': {'size': 96},
    'CenterCrop': {'size': 160},
    'RandAugment': {'policy': 'rand-m9-n3-p1.0'},
    'RandomCrop': {'size': 256, 'padding': 50},
    'RandomFlip': {'prob': 1.0},
    'RandomResizedCrop': {'size': 200, 'scale': (0.1, 0.4)},
    'Resize': {'size': 160},
    'ResizeShortEdge': {'size': 160},
    'TenCrop': {'size': 120},
    'torchvision/AugMix': {'severity': 8},
    'torchvision/CenterCrop': {'size': (120, 200)},
    'torchvision/ColorJitter': {'brightness': 0.5, 'contrast': 0.5, 'saturation': 0.8, 'hue': 0.3},
    'torchvision/Compose': {'transforms': [FLIP, BLUR]},
    'torchvision/ConvertImageDtype': {'dtype': 'uint8'},
    'torchvision/ElasticTransform': {'alpha': 150.0},
    'torchvision/FiveCrop': {'size': 120},
    'torchvision/GaussianBlur': {'kernel_size': 15, 'sigma': (3.0, 5.0)},
    'torchvision/GaussianNoise': {'sigma': 0.2},
    'torchvision/Pad': {'padding': 40, 'padding_mode': 'reflect'},
    'torchvision/RandAugment': {'magnitude': 12, 'interpolation': 'bilinear'},
    'torchvision/RandomAdjustSharpness': {'sharpness_factor': 8.0, 'p': 1.0},
    'torchvision/RandomAffine': {'degrees': 30, 'scale': (0.6, 1.0), 'shear': 15, 'interpolation': 'bilinear'},
    'torchvision/RandomApply': {'transforms': [BLUR, INVERT], 'p': 0.9},
    'torchvision/RandomAutocontrast': {'p': 1.0},
    'torchvision/RandomChoice': {'transforms': [FLIP, BLUR, INVERT], 'p': [0.2, 0.2, 0.6]},
    'torchvision/RandomCrop': {'size': 180, 'padding': (10, 20), 'fill': (255, 0, 0)},
    'torchvision/RandomEqualize': {'p': 1.0},
    'torchvision/RandomErasing': {'p': 1.0, 'value': (124, 116, 104)},
    'torchvision/RandomGrayscale': {'p': 1.0},
    'torchvision/RandomHorizontalFlip': {'p': 1.0},
    'torchvision/RandomInvert': {'p': 1.0},
    'torchvision/RandomOrder': {'transforms': [FLIP, BLUR, {'type': 'RandomResizedCrop', 'size': 200}]},
    'torchvision/RandomPerspective': {'p': 1.0, 'fill': 128},
    'torchvision/RandomPhotometricDistort': {'p': 0.9},
    'torchvision/RandomPosterize': {'bits': 2, 'p': 1.0},
    'torchvision/RandomResize': {'min_size': 90, 'max_size': 200},
    'torchvision/RandomResizedCrop': {'size': 200, 'interpolation': 'bicubic'},
    'torchvision/RandomRotation': {'degrees': (20, 70), 'expand': True, 'interpolation': 'bilinear'},
    'torchvision/RandomShortestSize': {'min_size': [90, 120, 150]},
    'torchvision/RandomSolarize': {'threshold': 128, 'p': 1.0},
    'torchvision/RandomVerticalFlip': {'p': 1.0},
    'torchvision/RandomZoomOut': {'p': 1.0, 'side_range': (1.5, 2.5), 'fill': (124, 116, 104)},
    'torchvision/Resize': {'size': (100, 200), 'interpolation': 'nearest-exact'},
    'torchvision/ScaleJitter': {'target_size': (250, 250), 'scale_range': (0.3, 0.9)},
    'torchvision/TenCrop': {'size': 120, 'vertical_flip': True},
    'torchvision/ToDtype': {'dtype': 'uint8', 'scale': True},
    'mmcv/CenterCrop': {'crop_size': (300, 160), 'auto_pad': True},
    'mmcv/Compose': {'transforms': [FLIP, INVERT]},
    'mmcv/Pad': {'size': (300, 280), 'pad_val': {'img': (0, 0, 255)}},
    'mmcv/RandomApply': {'transforms': [BLUR], 'prob': 0.9},
    'mmcv/RandomChoice': {'transforms': [[FLIP, BLUR], [INVERT]], 'prob': [0.25, 0.75]},
    'mmcv/RandomChoiceResize': {'scales': [(160, 90), (90, 160)]},
    'mmcv/RandomFlip': {'prob': 1.0, 'direction': ['vertical', 'diagonal']},
    'mmcv/RandomGrayscale': {'prob': 1.0, 'channel_weights': (0.114, 0.587, 0.299)},
    'mmcv/RandomResize': {'scale': (256, 256), 'ratio_range': (0.3, 0.9), 'interpolation': 'area'},
    'mmcv/Resize': {'scale': (200, 100), 'keep_ratio': True},
}
OURS, OUR_BATCHES, MMCV = 'openmix_dm, image by image', 'openmix_dm, whole batches', 'mmcv'
REST = 'torchvision, noise, erasing, and transforms of transforms'
KINDS = {  # files of torchvision that hold alike transforms
    '_geometry': 'torchvision, geometry',
    '_color': 'torchvision, colour',
    '_auto_augment': 'torchvision, policies',
}
GROUPS = (OURS, OUR_BATCHES, *KINDS.values(), REST, MMCV)


def shown_configs() -> dict[str, list[dict[str, Any]]]:
    """Return a config of each transform of ours and of the bridged packages, in groups of alike ones."""
    groups: dict[str, list[dict[str, Any]]] = {group: [] for group in GROUPS}
    for name in known_names():
        target = TRANSFORMS.get(name)
        config = {'type': name, **(SHOWN[name] if name in SHOWN else _example(name, target))}
        if arguments_of(target).required <= set(config):  # one of another version may need what nobody knows
            groups[_group(name, target)].append(config)
    return groups


def known_names() -> list[str]:
    """Return the names of all transforms but those that a user has registered."""
    names = TRANSFORMS.names()
    return sorted(name for name in names if '/' in name or TRANSFORMS.get(name).__module__.split('.')[0] == SCOPE)


def takes_batches(target: Any) -> bool:
    """Say whether a transform is one of whole batches."""
    return 'generator' in inspect.signature(target.__call__).parameters


def _group(name: str, target: Any) -> str:
    package = name.rpartition('/')[0]
    if not package:
        return OUR_BATCHES if takes_batches(target) else OURS
    return MMCV if package == 'mmcv' else KINDS.get(target.__module__.rpartition('.')[2], REST)


def _example(name: str, target: Any) -> dict[str, Any]:
    """Return the config that a docstring of ours shows: `transforms = [dict(type=name, ...)]`."""
    line = re.search(r'^Example:\n    transforms = (.+)', inspect.getdoc(target) or '', re.M)
    configs = eval(line[1], {'dict': dict}) if line else []
    return next((config for config in configs if config['type'] == name), {})
