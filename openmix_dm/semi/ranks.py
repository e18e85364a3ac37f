"""What all ranks know together: state that follows a batch follows the global one, whatever the number of ranks."""

import torch
import torch.distributed as dist
from mmengine.dist import get_world_size
from torch import Tensor


def gather_rows(rows: Tensor) -> Tensor:
    """Return the rows of all ranks in the order of the global batch; all ranks have equally many."""
    if get_world_size() == 1:
        return rows
    gathered = [torch.empty_like(rows) for _ in range(get_world_size())]
    dist.all_gather(gathered, rows.contiguous())
    return torch.cat(gathered)


def mean_over_batch(rows: Tensor) -> Tensor:
    """Return the mean over the rows of all ranks."""
    return gather_rows(rows.float()).mean(dim=0)
