"""mmengine's ports are open: every argument of Runner, every hook, any metric, models of other packages."""

import inspect
import re
from contextlib import nullcontext

import pytest
import torch
from mmengine import registry as mmengine
from mmengine.evaluator import BaseMetric
from mmengine.registry import Registry
from mmengine.runner import Runner
from support.short_runs import CONFIG, SMALL, train

from openmix_dm.config.check import READ_BY_RUNNER, validate
from openmix_dm.config.load import load_config
from openmix_dm.config.refused import OUR_HOOKS, REFUSED, REFUSED_WRAPPERS
from openmix_dm.errors import ConfigError
from openmix_dm.mixers import CutMix
from openmix_dm.registry import BACKBONES, HOOKS, METRICS, MIXERS
from openmix_dm.runs.checkpoints import load_file
from openmix_dm.runs.folder import RunFolder
from openmix_dm.utils.signatures import arguments_of

# What becomes of each argument: a new one of a new version of mmengine has to be decided about.
HONOURED = {
    'model', 'work_dir', 'train_dataloader', 'val_dataloader', 'test_dataloader', 'train_cfg', 'val_cfg', 'test_cfg',
    'optim_wrapper', 'param_scheduler', 'val_evaluator', 'test_evaluator', 'default_hooks', 'custom_hooks',
    'data_preprocessor', 'load_from', 'resume', 'launcher', 'env_cfg', 'log_level', 'visualizer', 'default_scope',
    'randomness', 'experiment_name', 'cfg',
}  # fmt: skip


def test_every_argument_of_the_runner_is_honoured_or_refused():
    assert set(inspect.signature(Runner.__init__).parameters) - {'self'} <= HONOURED | set(REFUSED)
    assert not (HONOURED | READ_BY_RUNNER) & set(REFUSED)


def test_every_key_that_the_runner_reads_is_known():
    read = set(re.findall(r"self\.cfg\.get\(\s*'(\w+)'", inspect.getsource(Runner)))
    assert read <= HONOURED | READ_BY_RUNNER | set(REFUSED)


@pytest.mark.parametrize(
    ('option', 'said'),
    [
        ('auto_scale_lr=dict(enable=True, base_batch_size=100)', 'set global_batch_size'),
        ("log_processor=dict(type='LogProcessor', window_size=10)", 'set default_hooks.records'),
        ("custom_hooks=[dict(type='CheckpointHook', interval=1)]", 'default_hooks.checkpoint='),
        ("default_hooks.logger=dict(type='LoggerHook')", 'default_hooks.records='),
        ('default_hooks.loger=dict(interval=10)', 'has no type'),
        ("efficient_conv_bn_eval=['backbone']", 'the hooks by which mixers reach stages'),
        ("strategy=dict(type='FSDPStrategy')", 'each rank would hold a part of the weights'),
        ('runner_type=FlexibleRunner', 'there is one runner'),
        ("model_wrapper_cfg=dict(type='MMFullyShardedDataParallel')", 'activation_checkpointing'),
        ("model_wrapper_cfg=dict(type='DistributedDataParallel')", 'MMDistributedDataParallel has'),
        ('model_wrapper_cfg=dict(gradient_as_bucket_vew=True)', 'did you mean gradient_as_bucket_view'),
        ('model_wrapper_cfg=dict(device_ids=[0])', 'device_ids is not an argument'),
        ('sync_bn=mmcv', "must be 'torch'"),
        ('sync_bn=True', "must be 'torch'"),
        ('activation_checkpointing=3', "['backbone.stage1']"),
    ],
)
def test_what_would_fight_ours_is_refused_with_our_name_for_it(tmp_path, capsys, option, said):
    assert train(tmp_path / 'run', option) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / 'run').exists()


@pytest.mark.parametrize('name', sorted(mmengine.MODEL_WRAPPERS.module_dict))
def test_every_wrapper_of_mmengine_passes_or_is_refused_by_name(name):
    config = load_config(CONFIG, [f"model_wrapper_cfg=dict(type='{name}')"])
    with pytest.raises(ConfigError, match='cannot train here') if name in REFUSED_WRAPPERS else nullcontext():
        validate(config)
    assert (name in REFUSED_WRAPPERS) == (name != 'MMDistributedDataParallel')


def test_what_a_compiled_backbone_does_by_itself_is_not_asked_for_twice():
    options = ['compile=True', "activation_checkpointing=['backbone.stage1']"]
    with pytest.raises(ConfigError, match='do not go together'):
        validate(load_config(CONFIG, options))


def test_log_level_and_experiment_name_are_honoured(tmp_path):
    assert train(tmp_path / 'quiet', 'log_level=ERROR') == 0
    assert 'saved epoch_1.pth' not in (tmp_path / 'quiet' / 'train.log').read_text()
    assert train(tmp_path / 'named', 'experiment_name=mine', 'train_cfg.max_epochs=1') == 0
    assert 'saved epoch_1.pth' in (tmp_path / 'named' / 'train.log').read_text()


def test_a_data_preprocessor_beside_the_model_is_the_model_s(tmp_path):
    inside = 'model.data_preprocessor=None'
    beside = "data_preprocessor=dict(type='Normalise', mean=[78.0]*3, std=[81.4]*3)"
    beside = beside.replace('[78.0]*3', '[78.0,78.0,78.0]').replace('[81.4]*3', '[81.4,81.4,81.4]')
    assert train(tmp_path / 'plain') == train(tmp_path / 'beside', inside, beside) == 0
    first, second = (load_file(tmp_path / name / 'epoch_2.pth')['state_dict'] for name in ('plain', 'beside'))
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize('name', sorted(mmengine.HOOKS.module_dict))
def test_every_hook_of_mmengine_passes_or_is_refused_by_name(name):
    config = load_config(CONFIG, [f"custom_hooks=[dict(type='{name}')]"])
    if name in OUR_HOOKS:
        with pytest.raises(ConfigError, match='would fight ours'):
            validate(config)
        return
    missing = arguments_of(HOOKS.get(name)).required  # arguments without a default
    with pytest.raises(ConfigError, match=' needs ') if missing else nullcontext():
        validate(config)


def test_hooks_of_mmengine_run_beside_ours(tmp_path):
    hooks = (
        "custom_hooks=[dict(type='EarlyStoppingHook', monitor='top1', patience=1, min_delta=1000.0),"
        "dict(type='EMAHook', momentum=0.01), dict(type='ProfilerHook', by_epoch=False, profile_times=2),"
        "dict(type='EmptyCacheHook')]"
    )
    assert train(tmp_path / 'run', hooks, 'train_cfg.max_epochs=6') == 0
    assert len(RunFolder(tmp_path / 'run').records('val')) < 6  # stopped early


def test_a_hook_of_one_s_own_has_a_name_of_its_own_in_default_hooks(tmp_path):
    seen = []

    from mmengine.hooks import Hook

    @HOOKS.register_module(force=True)
    class CountingHook(Hook):
        """Count iterations."""

        def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
            seen.append(runner.iter)

    assert train(tmp_path / 'run', "default_hooks.counting=dict(type='CountingHook')") == 0
    assert seen == list(range(14))


@METRICS.register_module(force=True)
class MeanScore(BaseMetric):
    """A metric that knows nothing of us: it sees one data sample an image, in MMPretrain's names."""

    default_prefix = 'lab'

    def process(self, data_batch, data_samples):
        self.results += [(float(s['pred_score'].sum()), int(s['pred_label'] == s['gt_label'])) for s in data_samples]

    def compute_metrics(self, results):
        sums, hits = zip(*results, strict=True)
        return {'sum': sum(sums) / len(sums), 'accuracy': 100 * sum(hits) / len(hits)}


def test_a_metric_of_another_package_sees_every_image_once(tmp_path):
    options = (
        "val_evaluator=[dict(type='TopK'),dict(type='MeanScore')]",
        'default_hooks.checkpoint.save_best=lab/accuracy',
    )
    assert train(tmp_path / 'run', *options) == 0
    for record in RunFolder(tmp_path / 'run').records('val'):
        assert record['lab/accuracy'] == pytest.approx(record['top1'])
        assert record['lab/sum'] == pytest.approx(1.0, abs=1e-5)
    values = RunFolder(tmp_path / 'run').read()['values']
    assert values['lab/accuracy']['max'] == pytest.approx(values['top1']['max'])
    assert (tmp_path / 'run' / 'best_lab_accuracy.pth').exists()


def test_probabilities_of_a_metric_are_those_of_the_loss(tmp_path):
    options = ("val_evaluator=[dict(type='MeanScore')]", "model.head.loss=dict(_delete_=True,type='MixedBCE')")
    assert train(tmp_path / 'run', *options) == 0
    assert all(abs(record['lab/sum'] - 1) > 0.01 for record in RunFolder(tmp_path / 'run').records('val'))


def test_torchmetrics_as_a_metric_and_as_the_best(tmp_path, capsys):
    metric = "val_evaluator=[dict(type='TopK'),dict(type='TorchMetric',metric='{}',options=dict(num_classes=10))]"
    options = (metric.format('MulticlassF1Score'), 'default_hooks.checkpoint.save_best=multiclass_f1_score')
    assert train(tmp_path / 'run', *options) == 0
    values = [record['multiclass_f1_score'] for record in RunFolder(tmp_path / 'run').records('val')]
    assert all(0 <= value <= 1 for value in values)
    best = load_file(tmp_path / 'run' / 'best_multiclass_f1_score.pth')['meta']['best']
    assert best == {'multiclass_f1_score': max(values)}
    assert train(tmp_path / 'bad', metric.format('MulticlassF1Scor')) == 2
    assert 'did you mean MulticlassF1Score' in capsys.readouterr().err
    assert not (tmp_path / 'bad' / 'run.json').exists()


def test_models_of_other_packages_are_found_by_their_scope():
    lab = Registry('model', parent=mmengine.MODELS, scope='lab_of_models')

    @lab.register_module()
    class Net(torch.nn.Module):
        """A model of another package."""

    assert BACKBONES.get('lab_of_models.Net') is Net
    assert BACKBONES.get('openmix_dm.ThinResNet') is BACKBONES.get('ThinResNet')
    assert BACKBONES.get('NoSuchNet') is None


def test_types_may_be_classes():
    config = load_config(CONFIG, SMALL)
    config.model.mixer = {'type': CutMix, 'alpha': 1.0}
    validate(config)
    config.model.mixer = {'type': CutMix, 'alfa': 1.0}
    with pytest.raises(ConfigError, match='did you mean alpha'):
        validate(config)


def test_a_mixer_with_a_part_of_its_own_is_left_to_itself(tmp_path):
    @MIXERS.register_module(force=True)
    class MixerOfParts(CutMix):
        """A mixer of another package that builds something out of an argument."""

        __module__ = 'lab'

        def __init__(self, alpha, generator, per_sample=False, partner='shift'):
            super().__init__(alpha, per_sample, partner)
            self.generator = generator['type']

    part = "model.mixer=dict(_delete_=True,type='MixerOfParts',alpha=1.0,generator=dict(type='Anything',depth=3))"
    assert train(tmp_path / 'run', part) == 0
    assert train(tmp_path / 'bad', part.replace('generator', 'generater')) == 2
