"""Training steps and validations of small models on the pretended GPU."""

from types import SimpleNamespace

import torch
from support.small_models import classifier

from openmix_dm.analysis.benchmarks.device_training import SGD, DeviceTraining, image_batch, pinned
from openmix_dm.analysis.benchmarks.pretended_device import pretended_gpu
from openmix_dm.engine.eval_loops import evaluate
from openmix_dm.evaluation import BatchEvaluator
from openmix_dm.registry import MIXERS

CLASSES, SIZE, PIXELS = 5, 6, 16


def trouble(record, *allowed):
    """What a step should be free of, but for what a method is allowed."""
    return [line for line in record.trouble if not any(place in line for place in allowed)]


def train(model, batch=None, steps=2, **options):
    """Return the record of some steps after the first one, which makes state that stays."""
    batch = image_batch(SIZE, PIXELS, CLASSES) if batch is None else batch
    with pretended_gpu() as record:
        training, ready = DeviceTraining(model, **options), pinned(batch)
        training.step(ready)
        record.clear()
        for _ in range(steps):
            record.next_step()
            training.step(ready)
    assert record.launched > 30 * steps
    assert all(value.isfinite().all() for value in model.parameters())
    return record


def mixed(mixer, loss=None, **backbone):
    """Return a small classifier with a mixer, given by its name and settings."""
    name, settings = mixer
    config = {'type': name, **settings}
    usual = (
        {'type': 'MixedCE'} if 'rows_b' in MIXERS.build(config).label_fields else {'type': 'DecoupledCE', 'eta': 0.1}
    )
    return classifier(config, loss or usual, **backbone)


def wrapper(**options):
    return {**SGD, **options}


def validate(model, metrics, batches):
    """Return the record of a validation over so many batches."""
    data = [image_batch(SIZE, PIXELS, CLASSES) for _ in range(batches)]

    class Loader(list):
        dataset = range(batches * SIZE)

    with pretended_gpu() as record:
        model.to('cuda').eval()
        evaluator = BatchEvaluator(metrics)
        runner = SimpleNamespace(evaluation_precision=lambda: torch.autocast('cuda', dtype=torch.bfloat16))
        loop = SimpleNamespace(dataloader=Loader(map(pinned, data)), evaluator=evaluator, runner=runner)
        record.clear()
        evaluate(loop, model, may_stop=True)
    return record
