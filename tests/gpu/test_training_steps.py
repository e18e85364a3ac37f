"""No training step waits for the device or mixes devices: every mixer, loss, precision and semi-supervised method.

Held on a pretended GPU; docs/gpu.md says what that shows and what it cannot.
"""

import pytest
import torch
from support import semi_steps, transfer_runs
from support.device_steps import mixed, train, trouble, validate, wrapper
from support.mixer_examples import case_id, cases, example, registered

from openmix_dm.analysis.benchmarks.device_training import image_batch, pinned
from openmix_dm.analysis.benchmarks.launches import stream_batch
from openmix_dm.analysis.benchmarks.pretended_device import pretended_gpu
from openmix_dm.config.load import load_config
from openmix_dm.datasets.streams import StreamFacts
from openmix_dm.engine.prefetch import prefetched
from openmix_dm.evaluation import Predictions, TopK
from openmix_dm.registry import LOSSES, MIXERS
from openmix_dm.runs.model import build_model

# The two that wait by themselves: an SVD tells the host whether it converged, and a minimum cut is found on the host.
BSS = 'aten::_linalg_svd at openmix_dm/semi/terms/spectral.py'
EXACT = 'openmix_dm/mixers/puzzle/exact.py'

LOSS_EXAMPLES = {
    'MixedCE': [{'label_smoothing': 0.1}],
    'DecoupledCE': [{'eta': 0.1}, {'eta': 1.0, 'sides': 'a'}],
    'MixedBCE': [{}, {'two_hot': True}],
    'DecoupledBCE': [{'t': 0.5}],
    'ByPolicy': [{'losses': [{'type': 'DecoupledCE', 'eta': 0.1}, {'type': 'DecoupledBCE'}]}],
}
LOSS_CASES = [{'type': name, **settings} for name, each in LOSS_EXAMPLES.items() for settings in each]
MIXTURE = ('RandomMixer', example('RandomMixer'))
SWITCHES = {
    'plain': {},
    'bf16': {'optim_wrapper': wrapper(amp='bf16')},
    'fp16': {'optim_wrapper': wrapper(amp='fp16')},
    'ema': {'ema': 0.99},
    'accumulated': {'optim_wrapper': wrapper(accumulative_counts=2), 'steps': 4},
    'clipped': {'optim_wrapper': wrapper(clip_grad={'max_norm': 1.0})},
    'fp16, clipped, ema': {'optim_wrapper': wrapper(amp='fp16', clip_grad={'max_norm': 1.0}), 'ema': 0.99},
    'AdamW': {'optim_wrapper': wrapper(optimizer={'type': 'AdamW', 'lr': 1e-3})},
    'LAMB': {'optim_wrapper': wrapper(optimizer={'type': 'Lamb', 'lr': 1e-3}), 'ema': 0.99},
}


@pytest.mark.parametrize('case', cases(), ids=case_id)
def test_mixers(case):
    """Each way of drawing lam and partners; the partners of a batch and its lam differ from step to step."""
    assert trouble(train(mixed(case))) == []


def test_every_loss_has_an_example():
    LOSSES.import_from_location()
    assert set(LOSS_EXAMPLES) == set(LOSSES.module_dict)


@pytest.mark.parametrize('loss', LOSS_CASES, ids=str)
def test_losses(loss):
    assert trouble(train(mixed(MIXTURE, loss))) == []


@pytest.mark.parametrize('switch', SWITCHES)
@pytest.mark.parametrize('name', ['Mixup', 'AutoMix', 'AdAutoMix', 'RecursiveMix', 'SMMix', 'MixPro'])
def test_switches(name, switch):
    assert trouble(train(mixed((name, example(name)), dropout=0.1), **SWITCHES[switch])) == []


@pytest.mark.parametrize('name', ['CutMix', 'PuzzleMix', 'SAMix', 'GuidedMixup', 'RecursiveMix'])
def test_channels_last(name):
    assert trouble(train(in_channels_last(mixed((name, example(name)))))) == []


def in_channels_last(model):
    model = model.to(memory_format=torch.channels_last)
    model.data_preprocessor.memory_format = torch.channels_last
    return model


def test_erasing():
    model = mixed(('Mixup', {'alpha': 1.0}))
    model.data_preprocessor = type(model.data_preprocessor)([10.0] * 3, [20.0] * 3, erasing={'prob': 0.9})
    assert trouble(train(model)) == []


def test_the_exact_solver_waits_and_nothing_beside_it():
    record = train(mixed(('PuzzleMix', {'alpha': 1.0, 'solver': 'exact'})))
    assert trouble(record, EXACT) == []
    assert any(EXACT in line for line in record.waits)


def facts(classes):
    return StreamFacts(torch.full((classes,), 4), 64, 2, 3, can_be_studied=True)


def streams(config, **options):
    """Train the model of a semi-supervised config on views of noise."""
    model = build_model(config)
    classes = model.head.num_classes
    model.setup(facts(classes))
    return train(model, stream_batch(4, 8, classes), steps=1, **options)


@pytest.mark.parametrize('method', semi_steps.METHODS)
def test_semi_supervised_methods(method):
    assert trouble(streams(semi_steps.config(method), ema=0.98)) == []


@pytest.mark.parametrize('method', transfer_runs.METHODS)
def test_transfer_methods(method, tmp_path):
    config = load_config(transfer_runs.FOLDER / f'r8_{method}.py')
    config.model.backbone.pretrained = str(transfer_runs.source_file(tmp_path))
    record = streams(config)
    assert trouble(record, *([BSS] if method == 'bss' else [])) == []
    assert any(BSS in line for line in record.waits) == (method == 'bss')


@pytest.mark.parametrize('batches', [2, 5])
def test_a_validation_waits_for_its_results_and_never_for_a_batch(batches, tmp_path):
    metrics = [TopK(topk=(1, 2)), Predictions(out=str(tmp_path / 'predictions.npz')), Kept()]
    record = validate(mixed(('Mixup', {'alpha': 1.0})), metrics, batches)
    assert not record.mixed
    assert not record.unpinned
    assert record.waits.total() == 3  # top-k, predictions and the loss, each once


class Kept(TopK):
    """A metric as others write them: it is given a data sample for each image."""

    takes_batches = False

    def process(self, data_batch, data_samples):
        self.right = torch.stack([sample['pred_label'] == sample['gt_label'] for sample in data_samples])

    def evaluate(self, size):
        return {}


def test_prefetched_batches_wait_for_nothing():
    with pretended_gpu() as record:
        batches = [pinned(image_batch(4, 8, 5)) for _ in range(3)]
        record.clear()
        sent = list(prefetched(batches, torch.device('cuda', 0)))
        assert all(batch['inputs'].is_cuda and batch['labels'].is_cuda for batch in sent)
    assert record.trouble == []
    assert len(sent) == 3


def turns(name, switch):
    """Return the numbers of the losses that a mixer has with a switch: two of those that take its labels.

    Over all mixers and switches, losses, ways of drawing and layouts take turns, so that every two of them meet; all
    at once would be 1,260 trainings.
    """
    fields = MIXERS.get(name).label_fields
    taken = [number for number, loss in enumerate(LOSS_CASES) if not fields - LOSSES.build(loss).label_fields]
    first = registered().index(name) + list(SWITCHES).index(switch)
    return [(turn, taken[turn % len(taken)]) for turn in (first, first + 3)]


def test_turns_leave_no_pair_out():
    meetings = {
        (name, switch, loss, turn % 2)
        for name in registered()
        for switch in SWITCHES
        for turn, loss in turns(name, switch)
    }
    losses = range(len(LOSS_CASES))
    picky = {name for name in registered() if MIXERS.get(name).label_fields}
    assert {(name, loss) for name, _, loss, _ in meetings if name not in picky} == {
        (name, loss) for name in registered() if name not in picky for loss in losses
    }
    assert {(switch, loss) for _, switch, loss, _ in meetings} == {(s, loss) for s in SWITCHES for loss in losses}
    assert {(name, switch, layout) for name, switch, _, layout in meetings} == {
        (name, switch, layout) for name in registered() for switch in SWITCHES for layout in (0, 1)
    }


@pytest.mark.slow
@pytest.mark.parametrize('switch', SWITCHES)
@pytest.mark.parametrize('name', registered())
def test_all_together(name, switch):
    """Every mixer with every switch in both layouts, and with every loss and way of drawing in turn."""
    ways = [case for case in cases() if case[0] == name]
    for turn, loss in turns(name, switch):
        kind, settings = ways[turn % len(ways)]
        if MIXERS.build({'type': kind, **settings}).label_fields - LOSSES.build(LOSS_CASES[loss]).label_fields:
            continue  # a way of the mixer whose labels the loss refuses: see tests/losses
        model = mixed((kind, settings), LOSS_CASES[loss])
        model = in_channels_last(model) if turn % 2 else model
        assert trouble(train(model, **SWITCHES[switch])) == [], (turn, LOSS_CASES[loss])
