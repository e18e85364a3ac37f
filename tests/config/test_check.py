"""Every kind of mistake in a config is refused before any work, with the nearest right name."""

import pytest

from openmix_dm.config import load as configs
from openmix_dm.config.check import validate
from openmix_dm.errors import ConfigError

MISTAKES = {
    'modle.mixer.alpha=1': 'did you mean model',
    'my_note=1': 'start with _',
    'model.mixer.alpah=1': 'did you mean alpha',
    'model.mixer.type=Mixpu': 'did you mean Mixup',
    'model.mixer.type=puzzle': "no mixer 'puzzle'",
    'model.mixer.type=NoMix': '_delete_=True',
    'model.mixer.alpha=0': 'alpha must be',
    'model.mixer.alpha=-1': 'alpha must be',
    "model.mixer.alpha='0.2'": 'model.mixer.alpha must be a number',
    'model.mixer=3': 'model.mixer must be a dict',
    'model.head.loss.eta=-1': 'eta must be',
    'model.head.loss.type=DecoupledCEE': 'did you mean DecoupledCE',
    'model.data_preprocessor.erasing.porb=1': 'did you mean prob',
    'model.data_preprocessor.erasing.prob=2': 'model.data_preprocessor.erasing: prob must be',
    'model.data_preprocessor.erasing=0.25': 'must be a dict',
    'model.head.num_clases=1': 'did you mean num_classes',
    'model.backbone.dept=8': 'did you mean depth',
    'model.type=MixClassifer': 'did you mean MixClassifier',
    'optim_wrapper.optimzer.lr=1': 'did you mean optimizer',
    'optim_wrapper.optimizer.lrr=1': 'did you mean lr',
    'optim_wrapper.optimizer.type=SDG': 'did you mean SGD',
    'optim_wrapper.paramwise_cfg.norm_decay=0': 'did you mean norm_decay_mult',
    'optim_wrapper.clip_grad.max_nrm=1': 'did you mean max_norm',
    'param_scheduler.etamin=0': 'did you mean eta_min',
    'param_scheduler.T_max=abc': 'T_max must be a whole number',
    'train_cfg.max_epoch=3': 'did you mean max_epochs',
    'val_cfg.fp16=True': 'not an argument of ValidationLoop',
    'train_dataloader.num_worker=3': 'did you mean num_workers',
    'val_dataloader.repeats=3': 'val_dataloader.repeats is not known',
    'train_dataloader.repeat=3': 'did you mean repeats',
    'train_dataloader.dataset.spilt=train': 'did you mean split',
    'train_dataloader.dataset.transforms.0.paddin=3': 'did you mean padding',
    'default_hooks.chekpoint=None': 'did you mean checkpoint',
    'default_hooks.checkpoint.keeep=2': 'did you mean keep',
    'custom_hooks=[dict()]': 'custom_hooks',
    'randomness.sed=1': 'did you mean seed',
    'env_cfg.cudnn_bench=True': 'did you mean cudnn_benchmark',
    'val_evaluator.topp=3': 'did you mean topk',
    "val_evaluator=dict(type='TopKK')": 'did you mean TopK',
    'visualizer.vis_backend=[]': 'visualizer.vis_backend is not an argument',
    'optim_wrapper.constructor=MixOptimConstructr': 'did you mean MixOptimConstructor',
    'auto_scale_lr.enable=True': 'set global_batch_size',
    "model.mixer=dict(_delete_=True,type='RandomMixer',mixers=[dict(type='Mixup',alfa=1)])": 'mixers[0].alfa',
    "model.backbone.teacher=dict(type='ThinResNet')": 'model.backbone.teacher is not an argument',
    'default_hooks.checkpoint.save_best=3': 'save_best must be a string',
    "train_dataloader.sampler=dict(type='TrainBatche')": 'did you mean TrainBatches',
}


@pytest.fixture
def path(root):
    return root / 'configs' / 'digits' / 'r8_mixup_dm.py'


@pytest.mark.parametrize(('option', 'said'), MISTAKES.items(), ids=list(MISTAKES))
def test_mistakes_are_refused_with_a_hint(path, option, said):
    with pytest.raises(ConfigError) as error:
        validate(configs.load_config(path, [option]))
    assert said in str(error.value)


@pytest.mark.parametrize(
    'option',
    [
        'model.mixer.per_sample=True',
        '_my_note=1',
        'model.head.loss.sides=a',
        'optim_wrapper.optimizer.nesterov=True',
        "optim_wrapper.clip_grad={'max_norm': 1.0}",
        "optim_wrapper.paramwise_cfg={'norm_decay_mult': 0.0}",
        "custom_hooks=[{'type': 'EMAHook', 'momentum': 0.001}]",
        'default_hooks.checkpoint=None',
        'global_batch_size=50',
    ],
)
def test_right_options_pass(path, option):
    validate(configs.load_config(path, [option]))


@pytest.mark.parametrize('key', ['model', 'train_cfg', 'optim_wrapper', 'train_dataloader'])
def test_what_a_run_cannot_do_without(path, key):
    config = configs.load_config(path)
    config.pop(key)
    with pytest.raises(ConfigError, match=f'no {key}'):
        validate(config)


def test_missing_arguments_are_named(path):
    config = configs.load_config(path)
    del config.model.mixer['alpha']
    with pytest.raises(ConfigError, match='Mixup needs alpha'):
        validate(config)


def test_nested_mixers_and_losses_are_checked(path):
    config = configs.load_config(path)
    config.model.mixer = {
        'type': 'RandomMixer',
        'mixers': [{'type': 'Mixup', 'alpha': 1.0}, {'type': 'CutMix', 'alfa': 1}],
    }
    with pytest.raises(ConfigError, match=r'mixers\[1\]\.alfa'):
        validate(config)
