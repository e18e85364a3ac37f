"""How strong the operations of RandAugment are: the argument of each at a level, for FixMatch's and timm's versions."""

from collections.abc import Callable
from typing import Any

import numpy as np

# From a level, 0 to 1 of the range, and a sign, -1 or 1; both may be arrays.
Argument = Callable[[Any, Any], Any]

ENHANCEMENTS = ('Brightness', 'Color', 'Contrast', 'Sharpness')  # 0 is without, 1 leaves the image as it is


def _signed(largest: float) -> Argument:
    return lambda level, sign: sign * (level * largest)


def _unused(level: Any, sign: Any) -> Any:
    return level


FIXMATCH: dict[str, Argument] = {
    'Identity': _unused,
    'AutoContrast': _unused,
    'Equalize': _unused,
    'Posterize': lambda level, sign: np.floor(4 * level) + 4,  # bits that are kept
    'Solarize': lambda level, sign: 256 - np.floor(256 * level),  # from here on inverted
    **dict.fromkeys(ENHANCEMENTS, lambda level, sign: 0.9 * level + 0.05),
    'Rotate': _signed(30),  # degrees
    'ShearX': _signed(0.3),
    'ShearY': _signed(0.3),
    'TranslateX': _signed(0.3),  # of the side
    'TranslateY': _signed(0.3),
}
# FixMatch's operations and ranges as the released recipes of Table 10 have them: by OpenMMLab's functions, which make
# an enhancement weaker or stronger by what the range says.
FIXMATCH_EITHER_WAY: dict[str, Argument] = {
    **FIXMATCH,
    **dict.fromkeys(ENHANCEMENTS, lambda level, sign: 1 + sign * (0.9 * level + 0.05)),
}
TIMM: dict[str, Argument] = {
    **FIXMATCH,
    'Invert': _unused,
    'Posterize': lambda level, sign: np.floor(level * 4),
    'Solarize': lambda level, sign: np.minimum(256, np.floor(level * 256)),
    'SolarizeAdd': lambda level, sign: np.minimum(128, np.floor(level * 110)),
    **dict.fromkeys(ENHANCEMENTS, lambda level, sign: level * 1.8 + 0.1),
    'TranslateX': _signed(0.45),
    'TranslateY': _signed(0.45),
}
TIMM_INCREASING: dict[str, Argument] = {  # a higher level changes more
    **TIMM,
    'Posterize': lambda level, sign: 4 - np.floor(level * 4),
    'Solarize': lambda level, sign: 256 - np.minimum(256, np.floor(level * 256)),
    **dict.fromkeys(ENHANCEMENTS, lambda level, sign: np.maximum(0.1, 1 + sign * (level * 0.9))),
}
