"""What happens to images that cannot be decoded."""

import sys

import torch

from openmix_dm.errors import DataError
from openmix_dm.utils.checks import one_of


class Damaged:
    """Stop at the first damaged image ('raise'), or pass over up to `limit` different ones ('skip').

    The marks are in shared memory, so that all workers of a process count together; each rank counts for itself.
    """

    def __init__(self, on_error: str, limit: int, images: int) -> None:
        one_of('on_error', on_error, ('raise', 'skip'))
        if limit < 0:
            raise ValueError(f'skip_limit must be 0 or more images, got {limit}')
        self.skips, self.limit = on_error == 'skip', limit
        self.marks = torch.zeros(images, dtype=torch.bool).share_memory_() if self.skips else torch.zeros(0)

    def note(self, index: int, error: DataError) -> None:
        """Count a damaged image; raise its error if none, or no more, may be passed over."""
        if not self.skips:
            raise error
        if self.marks[index]:
            return
        self.marks[index] = True
        count = int(self.marks.sum())
        if count > self.limit:
            raise DataError(
                f'{error}; it is damaged image number {count}, more than skip_limit={self.limit}'
            ) from error
        print(f'openmix_dm: skipped ({count} of at most {self.limit}): {error}', file=sys.stderr, flush=True)
