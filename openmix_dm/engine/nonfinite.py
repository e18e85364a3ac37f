"""Say which samples, lam and mixer made a loss that is not finite."""

import json
from pathlib import Path
from typing import Any

import torch

from openmix_dm.engine.checkpoints import write_atomically
from openmix_dm.engine.seeding import seed_iteration
from openmix_dm.structures import tensors_in


def report(runner: Any, data: dict[str, Any], picks: Any) -> Path:
    """Write nonfinite_rank<k>.json and return its path.

    Nothing was kept of the iteration: its draws are a function of its number, so that the model draws them again.
    """
    model = runner.bare_model
    gradients = [value.grad for value in model.parameters() if value.grad is not None]
    norm = torch.nn.utils.get_total_norm(gradients).item() if gradients else 0.0
    seed_iteration(runner.seed, runner.iter, runner.rank)
    with torch.no_grad():
        data = model.data_preprocessor(data, training=True)
        details = model.explain(data, picks)
        seed_iteration(runner.seed, runner.iter, runner.rank)
        losses = model(**data, mode='loss')
    path = Path(runner.work_dir) / f'nonfinite_rank{runner.rank}.json'
    record = {
        'iter': runner.iter,
        'epoch': runner.epoch,
        'rank': runner.rank,
        'losses': {name: str(value.mean().item()) for name, value in losses.items()},
        'inputs_finite': all(bool(value.isfinite().all()) for value in tensors_in(data)),
        'weights_finite': all(bool(value.isfinite().all()) for value in model.parameters()),
        'gradient_norm': str(norm),
        **details,
    }
    write_atomically(path, json.dumps(record, indent=1) + '\n')
    return path
