"""Ranks on GPUs agree on a stop without waiting for their devices."""

import torch
import torch.distributed as dist

from openmix_dm.analysis.benchmarks.pretended_device import pretended_gpu
from openmix_dm.launch import signals


class Done:
    def wait(self):
        """On nccl, the device waits."""


def reduced(tensor, op, async_op):
    tensor.fill_(1)  # another rank was asked to stop
    return Done()


def test_a_vote_of_one_batch_ago_is_read_without_a_wait(monkeypatch):
    monkeypatch.setattr(signals, 'several_ranks', lambda: True)
    monkeypatch.setattr(signals, 'get_comm_device', lambda: torch.device('cuda'))
    monkeypatch.setattr(dist, 'all_reduce', reduced)
    with pretended_gpu() as record:
        vote = signals.StopVote()
        vote.ask()
        record.next_step()
        assert vote.agreed()
    assert not record.trouble
