"""Say which samples, lam and mixer made a loss that is not finite."""

import json
from pathlib import Path
from typing import Any

import torch

from openmix_dm.engine.checkpoints import write_atomically
from openmix_dm.engine.seeding import seed_iteration


def report(runner: Any, data: dict[str, Any], epoch: int, batch_index: int) -> Path:
    """Write nonfinite_rank<k>.json and return its path.

    Nothing was kept of the iteration: its draws are a function of its number, so that the mixer draws them again.
    """
    model = runner.bare_model
    gradients = [value.grad for value in model.parameters() if value.grad is not None]
    norm = torch.nn.utils.get_total_norm(gradients).item() if gradients else 0.0
    seed_iteration(runner.seed, runner.iter, runner.rank)
    with torch.no_grad():
        data = model.data_preprocessor(data, training=True)
        mixed = model.mixer(data['inputs'], data['labels'], model.probe)
        seed_iteration(runner.seed, runner.iter, runner.rank)
        losses = model(**data, mode='loss')
    picks = runner.train_dataloader.batch_sampler.batch(epoch, batch_index)
    path = Path(runner.work_dir) / f'nonfinite_rank{runner.rank}.json'
    record = {
        'iter': runner.iter,
        'epoch': epoch,
        'rank': runner.rank,
        'mixer': repr(model.mixer),
        'policy': mixed.target.policy,
        'losses': {name: str(value.mean().item()) for name, value in losses.items()},
        'inputs_finite': bool(data['inputs'].isfinite().all()),
        'weights_finite': all(bool(value.isfinite().all()) for value in model.parameters()),
        'gradient_norm': str(norm),
        'samples': [pick.image for pick in picks],
        'partners': [picks[int(row)].image for row in mixed.index],
        'lam': mixed.target.lam.tolist(),
    }
    write_atomically(path, json.dumps(record, indent=1) + '\n')
    return path
