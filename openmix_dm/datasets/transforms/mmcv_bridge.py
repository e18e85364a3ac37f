"""Transforms of mmcv by their names: `dict(type='mmcv/RandomFlip', prob=0.5)`.

They are written for images in the order blue, green, red, which values for single channels follow. Ours are RGB: an
adapter gives mmcv what it expects, and turns the result back.
"""

import inspect
from typing import Any

import numpy as np

from openmix_dm.datasets.transforms.foreign import Bridge, ForeignTransform
from openmix_dm.registry import TRANSFORMS

_READS = 'the data set reads the images and their labels'
_FORMATS = 'the data set makes tensors of the images, and the model normalises them; see model.data_preprocessor'
_KEYS = 'a sample here is one image without other keys; use mmcv/Compose'
_SEVERAL = 'it gives several images of its own format; use TenCrop'
REFUSED = {
    'ImageToTensor': _FORMATS,
    'KeyMapper': _KEYS,
    'LoadAnnotations': _READS,
    'LoadImageFromFile': _READS,
    'MultiScaleFlipAug': _SEVERAL,
    'Normalize': _FORMATS,
    'TestTimeAug': _SEVERAL,
    'ToTensor': _FORMATS,
    'TransformBroadcaster': _KEYS,
}
DETERMINISTIC = frozenset(('CenterCrop', 'Compose', 'Pad', 'Resize'))
# Treat all channels alike, so that nothing has to be turned; what an inner transform wants, its own adapter does.
ANY_ORDER = frozenset(
    ('Compose', 'RandomApply', 'RandomChoice', 'RandomChoiceResize', 'RandomFlip', 'RandomResize', 'Resize')
)
# mmcv builds these itself, by plain names that mean our classes while a run has our scope.
BUILT_BY_MMCV = {'_scope_': 'mmengine'}


def classes() -> dict[str, type]:
    """Return all transforms of mmcv."""
    from mmcv import transforms  # takes a while

    base = transforms.BaseTransform
    found = {name: each for name, each in vars(transforms).items() if isinstance(each, type)}
    return {name: each for name, each in found.items() if issubclass(each, base) and each is not base}


class MmcvTransform(ForeignTransform):
    """Apply a transform of mmcv to an image, which it sees as `results['img']`."""

    @staticmethod
    def signature(original: type) -> inspect.Signature:
        """Return the arguments of a class; those that it hands on to mmcv's Resize by name."""
        own = inspect.signature(original)
        if 'resize_type' not in own.parameters:
            return own
        handed_on = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, parameter in inspect.signature(classes()['Resize']).parameters.items()
            if name not in ('scale', 'scale_factor')
        ]
        kept = [parameter for parameter in own.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
        return own.replace(parameters=[*kept, *handed_on])

    def prepare(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Build nested transforms; name the scope of those that mmcv builds."""
        known = {**arguments}
        if 'transforms' in known:
            known['transforms'] = _built(known['transforms'])
        if 'resize_type' in self.signature(self.original).parameters:
            _check_type('resize_type', known.get('resize_type', 'Resize'), 'Resize')
            known |= {'resize_type': 'Resize', **BUILT_BY_MMCV}
        if 'pad_cfg' in self.signature(self.original).parameters:
            pad = known.get('pad_cfg', {})
            _check_type('pad_cfg.type', pad.get('type', 'Pad'), 'Pad')
            known['pad_cfg'] = {**pad, 'type': 'Pad', **BUILT_BY_MMCV}
        if known.get('color_format') == 'hsv':
            raise ValueError("color_format must be 'bgr' or 'rgb', got 'hsv': images here are never in HSV")
        return known

    def apply(self, image: np.ndarray) -> np.ndarray:
        """Return the transformed image."""
        if self.name in ANY_ORDER or self.arguments.get('color_format') == 'rgb':
            return self._applied(image)
        return _turned(self._applied(_turned(image)))

    def _applied(self, image: np.ndarray) -> np.ndarray:
        size = image.shape[:2]
        return self.transform({'img': image, 'img_shape': size, 'ori_shape': size})['img']


def _turned(image: np.ndarray) -> np.ndarray:
    """Turn red, green, blue into blue, green, red, or back; a grey image stays as it is."""
    import cv2

    return cv2.cvtColor(image, cv2.COLOR_RGB2BGR) if image.ndim == 3 and image.shape[2] == 3 else image


class OnResults:
    """Apply one of our transforms to the image of mmcv's results."""

    def __init__(self, transform: Any) -> None:
        self.transform, self.needs_draws = transform, getattr(transform, 'needs_draws', True)

    def __call__(self, results: dict[str, Any]) -> dict[str, Any]:
        """Return the results with the transformed image."""
        image = self.transform(results['img'])
        return {**results, 'img': image, 'img_shape': image.shape[:2]}


def _built(transforms: Any) -> Any:
    """Build configs, in lists of lists too."""
    if isinstance(transforms, list | tuple):
        return [_built(each) for each in transforms]
    return OnResults(TRANSFORMS.build(transforms))


def _check_type(name: str, given: Any, known: str) -> None:
    if given not in (known, f'mmcv/{known}'):
        raise ValueError(f'{name} must be {known!r}, got {given!r}')


BRIDGE = Bridge('mmcv', classes, REFUSED, DETERMINISTIC, MmcvTransform)
