"""Seed every training iteration by where it is."""

import torch

from openmix_dm.keys import ITERATION, key


def seed_iteration(seed: int, iteration: int, rank: int) -> None:
    """Seed torch's generators for one iteration of one rank.

    Dropout, stochastic depth and the mixers then draw the same numbers in a resumed run, and ranks draw different ones.
    Not `torch.manual_seed`, which also seeds what is not there and takes a hundred times as long.
    """
    value = key(ITERATION, seed, iteration, rank)
    torch.default_generator.manual_seed(value)
    if torch.cuda.is_available():
        torch.cuda.manual_seed(value)
