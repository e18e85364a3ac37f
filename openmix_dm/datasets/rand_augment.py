"""RandAugment as DeiT and RSB use it: timm's, by its policy strings."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from openmix_dm.checks import one_of
from openmix_dm.datasets.pillow import RESAMPLING, from_pillow, to_pillow
from openmix_dm.registry import TRANSFORMS

INTERPOLATIONS = (*RESAMPLING, 'random')
IMAGENET_MEAN = (124, 116, 104)
# timm leaves out what it does not understand, or fails without saying where
SECTION = re.compile(r'm\d+|n\d+|p[01]?\.?\d*|mstd\d+\.?\d*|mmax\d+|inc[01]|t(weights|3a|3aw)')


@TRANSFORMS.register_module()
class RandAugment:
    """RandAugment (https://arxiv.org/abs/1909.13719), timm's version.

    policy: 'rand' and sections joined by '-': m<magnitude of 10>, n<operations> (2), p<probability of each> (0.5),
    mstd<deviation of the magnitude>, mmax<its bound>, inc1 (all operations get stronger with the magnitude),
    t<weights|3a|3aw> (another set of operations). interpolation: of rotations, shears and shifts; 'random' draws
    bilinear or bicubic. fill: the colour that they uncover.
    """

    needs_draws = True

    def __init__(
        self,
        policy: str = 'rand-m9-mstd0.5-inc1',
        interpolation: str = 'bicubic',
        fill: Sequence[int] = IMAGENET_MEAN,
    ) -> None:
        self.policy, self.interpolation = check_policy(policy), one_of('interpolation', interpolation, INTERPOLATIONS)
        if len(fill) != 3 or not all(0 <= value <= 255 for value in fill):
            raise ValueError(f'fill must be three numbers of 0 to 255, got {list(fill)}')
        self.fill = tuple(fill)
        self._augment = self._build()

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return the augmented image."""
        return from_pillow(self._augment(to_pillow(image)))

    def _build(self) -> Any:
        from timm.data.auto_augment import rand_augment_transform  # takes a while to import

        from openmix_dm.compat import posterize

        settings: dict[str, Any] = {'img_mean': self.fill}
        if self.interpolation != 'random':
            settings['interpolation'] = RESAMPLING[self.interpolation]
        augment = rand_augment_transform(self.policy, settings)
        for operation in augment.ops:
            if operation.name.startswith('Posterize'):
                operation.aug_fn = posterize
        return augment


def check_policy(policy: str) -> str:
    """Return a policy string if all of its sections are known."""
    first, *sections = policy.split('-')
    wrong = [section for section in sections if not SECTION.fullmatch(section)]
    if first != 'rand' or wrong:
        raise ValueError(
            f"policy must be 'rand' and sections such as m9, n2, p0.5, mstd0.5, mmax10, inc1, tweights, joined by '-', "
            f'got {policy!r}' + (f' with {", ".join(map(repr, wrong))}' if wrong else '')
        )
    return policy
