"""Each switch of the config has its effect."""

import pytest
import torch
from support.short_runs import CONFIG, final, same, train

from openmix_dm.commands.test import main as evaluate
from openmix_dm.config import load as configs
from openmix_dm.engine.hooks.ema import averaged_copy, update
from openmix_dm.engine.optim.wrapper import MixOptimWrapper
from openmix_dm.runs.folder import RunFolder

ONE_EPOCH = 'train_cfg.max_epochs=1'


def wrapper(model, **options):
    wrapped = MixOptimWrapper(torch.optim.SGD(model.parameters(), lr=1.0), **options)
    wrapped.initialize_count_status(model, 0, 100)
    return wrapped


def test_accumulation_equals_one_large_batch():
    inputs = torch.randn(6, 3)
    models = [torch.nn.Linear(3, 1) for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    wrapper(models[0]).update_params(models[0](inputs).square().mean())
    accumulating = wrapper(models[1], accumulative_counts=3)
    for part in inputs.chunk(3):
        accumulating.update_params(models[1](part).square().mean())
    torch.testing.assert_close(models[0].weight, models[1].weight)


def test_clipping_bounds_the_step():
    model = torch.nn.Linear(3, 1)
    before = model.weight.detach().clone()
    wrapper(model, clip_grad={'max_norm': 0.01}).update_params(1e3 * model(torch.ones(2, 3)).sum())
    assert (model.weight - before).norm() < 0.011


@pytest.mark.parametrize(('amp', 'dtype'), [('bf16', torch.bfloat16), ('fp16', torch.float16), (None, torch.float32)])
def test_amp_computes_in_its_precision(amp, dtype):
    model = torch.nn.Linear(3, 2)
    wrapped = wrapper(model, amp=amp)
    with wrapped.optim_context(model):
        output = model(torch.randn(4, 3))
    assert output.dtype == dtype
    wrapped.update_params(output.float().sum())
    assert model.weight.grad is None or model.weight.grad.isfinite().all()


def test_fp16_scales_and_skips_infinite_gradients():
    model = torch.nn.Linear(3, 1)
    wrapped = wrapper(model, amp='fp16')
    before, scale = model.weight.detach().clone(), wrapped._scaler.get_scale()
    wrapped.update_params(model(torch.full((2, 3), 1e38)).sum())  # a finite loss whose scaled gradient is not
    assert torch.equal(model.weight, before)
    assert wrapped._scaler.get_scale() < scale
    again = wrapper(model, amp='fp16')
    again.load_state_dict(wrapped.state_dict())
    assert again._scaler.get_scale() == wrapped._scaler.get_scale()


def test_unknown_precision_is_refused():
    with pytest.raises(ValueError, match='bf16'):
        wrapper(torch.nn.Linear(1, 1), amp='fp8')


def test_ema_by_hand():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    model.mixer = torch.nn.Identity()
    average = averaged_copy(model)
    weights = [model[0].weight.detach().clone()]
    for _ in range(3):
        with torch.no_grad():
            model[0].weight.add_(torch.randn(2, 2))
            model[1].running_mean.add_(1)
            model[1].num_batches_tracked.add_(1)
        weights.append(model[0].weight.detach().clone())
        update(average, model, decay=0.9, average_buffers=False)
    expected = weights[0]
    for new in weights[1:]:
        expected = 0.9 * expected + 0.1 * new
    torch.testing.assert_close(average[0].weight, expected)
    assert torch.equal(average[1].running_mean, model[1].running_mean)
    assert average[1].num_batches_tracked == 3
    assert not average[0].weight.requires_grad
    update(average, model, decay=0.9, average_buffers=True)
    assert isinstance(model.mixer, torch.nn.Identity)


@pytest.fixture(scope='module')
def with_ema(tmp_path_factory):
    folder = tmp_path_factory.mktemp('ema') / 'run'
    assert train(folder, 'default_hooks.ema.type=EmaHook', 'default_hooks.ema.decay=0.8') == 0
    return folder


def test_ema_is_evaluated_beside_the_trained_network(with_ema):
    for record in RunFolder(with_ema).records('val'):
        assert {'top1', 'top5', 'ema_top1', 'ema_top5'} <= set(record)
    assert {'median_last10', 'ema_median_last10', 'ema_best', 'ema_last'} <= set(RunFolder(with_ema).read()['final'])


def test_ema_does_not_touch_the_training(with_ema, tmp_path):
    assert train(tmp_path / 'plain') == 0
    assert same(final(tmp_path / 'plain')['state_dict'], final(with_ema)['state_dict'])
    assert not same(final(with_ema)['state_dict'], final(with_ema)['ema_state_dict'])


def test_ema_weights_are_ready_to_load(with_ema, tmp_path, capsys):
    last = RunFolder(with_ema).records('val')[-1]
    config = str(with_ema / 'config.py')
    assert evaluate([config, str(with_ema / 'ema.pth')]) == 0
    assert evaluate([config, str(with_ema / 'epoch_2.pth'), '--ema']) == 0
    first, second = capsys.readouterr().out.strip().splitlines()
    shown = {name: last[f'ema_{name}'] for name in ('top1', 'top5', 'loss')}
    assert first == second == '  '.join(f'{name} {value:.2f}' for name, value in shown.items())


def test_an_error_in_validation_leaves_the_trained_weights(tmp_path, monkeypatch):
    """The average is never swapped in: the weights after a failed validation are those before it."""
    from openmix_dm.engine import eval_loops as loops

    kept = {}

    def broken(loop, model, may_stop=False):
        trained = loop.runner.bare_model
        kept.setdefault('before', {name: value.clone() for name, value in trained.state_dict().items()})
        kept['model'] = trained
        if model is not trained:
            raise RuntimeError('bad image')
        return {}

    monkeypatch.setattr(loops, 'evaluate', broken)
    with pytest.raises(RuntimeError, match='bad image'):
        train(tmp_path / 'run', 'default_hooks.ema.type=EmaHook', 'default_hooks.ema.decay=0.8')
    assert same(kept['before'], dict(kept['model'].state_dict()))


def test_channels_last_reaches_weights_and_inputs(tmp_path, monkeypatch):
    from openmix_dm.mixers import Mixup

    seen = []
    forward = Mixup.forward

    def spy(self, inputs, *args, **options):
        batch = forward(self, inputs, *args, **options)
        seen.append([t.is_contiguous(memory_format=torch.channels_last) for t in (inputs, batch.inputs)])
        return batch

    monkeypatch.setattr(Mixup, 'forward', spy)
    assert train(tmp_path / 'run', 'channels_last=True', ONE_EPOCH) == 0
    assert seen
    assert all(all(pair) for pair in seen)


@pytest.mark.slow
def test_compile_gives_the_same_network(tmp_path):
    assert train(tmp_path / 'plain', ONE_EPOCH) == 0
    assert train(tmp_path / 'compiled', ONE_EPOCH, 'compile=True') == 0
    one, other = (final(tmp_path / name, epochs=1)['state_dict'] for name in ('plain', 'compiled'))
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(one[name], other[name], rtol=1e-2, atol=1e-2)


def test_every_switch_passes_validation():
    from openmix_dm.config.check import validate

    options = ['channels_last=True', 'compile=True', 'optim_wrapper.amp=bf16', 'default_hooks.ema.type=EmaHook']
    validate(configs.load_config(CONFIG, [*options, 'default_hooks.ema.decay=0.999']))
