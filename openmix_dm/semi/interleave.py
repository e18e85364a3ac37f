"""MixMatch's interleaving: a first chunk that is a fair sample of all chunks, because its statistics stand for them."""

import torch
from torch import Tensor


def interleave(chunks: list[Tensor]) -> list[Tensor]:
    """Exchange slice i of chunk 0 with slice i of chunk i; doing it again undoes it.

    All chunks have one length, which need not divide by their number.
    """
    size, count = len(chunks[0]), len(chunks)
    ends = [size * (place + 1) // count for place in range(count)]
    lengths = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    slices = [list(chunk.split(lengths)) for chunk in chunks]
    for place in range(1, count):
        slices[0][place], slices[place][place] = slices[place][place], slices[0][place]
    return [torch.cat(parts) for parts in slices]
