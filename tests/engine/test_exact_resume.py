"""A run that was stopped and resumed equals an unbroken one, bit for bit: weights, optimiser, schedule and average."""

import pytest
from support.short_runs import PowerCut, final, power_cut, same, train

from openmix_dm.runs.folder import RunFolder

EMA = ('default_hooks.ema.type=EmaHook', 'default_hooks.ema.decay=0.9')
AUGMENTATION = (
    'model.data_preprocessor.erasing.prob=0.5',
    'train_dataloader.repeats=3',
    "train_dataloader.dataset.transforms=[dict(type='BatchEach', transforms=[dict(type='RandAugment')])]",
)
SWITCHES = {
    'plain': (),
    'ema': EMA,
    'accumulation': ('optim_wrapper.accumulative_counts=2', 'global_batch_size=400'),
    'clipping': ("optim_wrapper.clip_grad={'max_norm': 0.1}",),
    'channels_last': ('channels_last=True',),
    'cutmix per sample': ('model.mixer.type=CutMix', 'model.mixer.per_sample=True', 'model.mixer.partner=permutation'),
    'augmentation': AUGMENTATION,
    'adamw': ("optim_wrapper.optimizer={'_delete_': True, 'type': 'AdamW', 'lr': 0.001}",),
}
MIXTURE = (
    "model.mixer=dict(_delete_=True, type='RandomMixer', probs=[0.5, 0.25, 0.25], "
    "mixers=[dict(type='PuzzleMix', alpha=2.0), "
    "dict(type='Mixup', alpha=0.2), dict(type='CutMix', alpha=0.2)])",
    "model.head.loss=dict(_delete_=True, type='ByPolicy', losses=[dict(type='DecoupledCE', eta=1.0), "
    "dict(type='DecoupledCE', eta=0.1), dict(type='DecoupledCE', eta=0.1)])",
)
VIT = (
    "model.backbone=dict(_delete_=True, type='TimmBackbone', name='vit_tiny_patch16_224', img_size=8, "
    'options=dict(patch_size=2, depth=1, embed_dim=24, num_heads=2))'
)
LEARNED = "type='{}', stage='stage2', momentum=0.9, momentum_end=0.99"
DYNAMIC = {  # PuzzleMix is in the mixture
    'automix': (f'model.mixer=dict(_delete_=True, {LEARNED.format("AutoMix")})',),
    'automix, accumulated': (
        f'model.mixer=dict(_delete_=True, {LEARNED.format("AutoMix")}, mask_adjust=0.5)',
        'optim_wrapper.accumulative_counts=2',
        'global_batch_size=400',
    ),
    'samix with ema': (f'model.mixer=dict(_delete_=True, {LEARNED.format("SAMix")}, dropout=0.1)', *EMA),
    'adautomix of three images, saved between two steps of a kind': (
        f'model.mixer=dict(_delete_=True, {LEARNED.format("AdAutoMix")}, images=3)',
        "model.head.loss=dict(_delete_=True, type='MixedCE')",
        'default_hooks.checkpoint.save_every_iters=3',  # after an odd step: the next one is not as the first
    ),
    'transmix': (VIT, "model.mixer=dict(_delete_=True, type='TransMix', mixer=dict(type='CutMix', alpha=1.0))"),
    'tokenmix': (VIT, "model.mixer=dict(_delete_=True, type='TokenMix', alpha=1.0, patch_size=2, minimum_tokens=2)"),
    'smmix with ema, bf16': (
        VIT,
        "model.mixer=dict(_delete_=True, type='RandomMixer', mixers=[dict(type='Mixup', alpha=0.8), "
        "dict(type='SMMix', per_sample=True)])",
        'optim_wrapper.amp=bf16',
        *EMA,
    ),
    'mixpro': (VIT, "model.mixer=dict(_delete_=True, type='MixPro', cell_size=4)"),
}
SLOW = {
    'mixture with a dynamic policy': MIXTURE,
    'one worker': ('train_dataloader.num_workers=1',),
    'two workers': ('train_dataloader.num_workers=2', *AUGMENTATION),
    'bf16': ('optim_wrapper.amp=bf16', *EMA),
    'fp16': ('optim_wrapper.amp=fp16', *EMA),
    'compile': ('compile=True',),
}


def check(options, folder, monkeypatch, cuts=(4, 7, 10)):
    """Cut in the middle of both epochs and between them; save every second iteration."""
    options = ('default_hooks.checkpoint.save_every_iters=2', *options)
    assert train(folder / 'whole', *options) == 0
    for cut in cuts:
        arguments = ('--resume',) if (folder / 'cut').exists() else ()
        with power_cut(monkeypatch, cut), pytest.raises(PowerCut):
            train(folder / 'cut', *options, arguments=arguments)
    assert train(folder / 'cut', *options, arguments=('--resume',)) == 0
    assert same(final(folder / 'whole'), final(folder / 'cut'))
    whole, cut = (RunFolder(folder / name).records('val') for name in ('whole', 'cut'))
    assert whole == cut


def test_tensorboard_shows_one_run_over_all_continuations(tmp_path, monkeypatch):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    saving = 'default_hooks.checkpoint.save_every_iters=2'
    for cut in (6, 10):
        with power_cut(monkeypatch, cut), pytest.raises(PowerCut):
            train(tmp_path / 'run', saving, arguments=('--resume',))
    assert train(tmp_path / 'run', saving, arguments=('--resume',)) == 0
    board = EventAccumulator(str(tmp_path / 'run' / 'tensorboard'))
    board.Reload()
    for kind in ('train', 'val'):
        recorded = [record['iter'] for record in RunFolder(tmp_path / 'run').records(kind)]
        assert [event.step for event in board.Scalars(f'{kind}/epoch')] == recorded
        assert recorded == sorted(set(recorded))


@pytest.mark.parametrize('name', SWITCHES)
def test_resume_is_exact(name, tmp_path, monkeypatch):
    cuts = (2, 4) if name == 'accumulation' else (4, 7, 10)
    check(SWITCHES[name], tmp_path, monkeypatch, cuts)


@pytest.mark.slow
@pytest.mark.parametrize('name', SLOW)
def test_resume_is_exact_slowly(name, tmp_path, monkeypatch):
    check(SLOW[name], tmp_path, monkeypatch, cuts=(4,))


@pytest.mark.slow
@pytest.mark.parametrize('name', DYNAMIC)
def test_resume_is_exact_for_mixers_that_ask_a_network(name, tmp_path, monkeypatch):
    check(DYNAMIC[name], tmp_path, monkeypatch, cuts=(2,) if 'accumulated' in name else (4,))


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing(tmp_path, monkeypatch):
    """0 workers, then 2, then 1: one run."""
    saving = 'default_hooks.checkpoint.save_every_iters=2'
    assert train(tmp_path / 'whole', saving) == 0
    for cut, workers in ((4, 0), (10, 2)):
        arguments = ('--resume', '--allow-change', 'train_dataloader.num_workers') if cut > 4 else ()
        with power_cut(monkeypatch, cut), pytest.raises(PowerCut):
            train(tmp_path / 'cut', saving, f'train_dataloader.num_workers={workers}', arguments=arguments)
    arguments = ('--resume', '--allow-change', 'train_dataloader.num_workers')
    assert train(tmp_path / 'cut', saving, 'train_dataloader.num_workers=1', arguments=arguments) == 0
    assert same(final(tmp_path / 'whole'), final(tmp_path / 'cut'))


def test_a_damaged_newest_checkpoint_costs_only_itself(tmp_path, monkeypatch, capsys):
    saving = 'default_hooks.checkpoint.save_every_iters=2'
    assert train(tmp_path / 'whole', saving) == 0
    with power_cut(monkeypatch, 6), pytest.raises(PowerCut):
        train(tmp_path / 'cut', saving)
    newest = tmp_path / 'cut' / 'iter_6.pth'
    newest.write_bytes(newest.read_bytes()[:1000])
    assert train(tmp_path / 'cut', saving, arguments=('--resume',)) == 0
    said = (tmp_path / 'cut' / 'train.log').read_text()
    assert 'iter_6.pth is damaged' in said
    assert '2 iterations are lost' in said
    assert same(final(tmp_path / 'whole'), final(tmp_path / 'cut'))


def test_resume_from_a_named_checkpoint(tmp_path):
    assert train(tmp_path / 'run') == 0
    arguments = ('--resume', str(tmp_path / 'run' / 'epoch_1.pth'))
    assert train(tmp_path / 'again', arguments=arguments) == 0
    assert same(final(tmp_path / 'run')['state_dict'], final(tmp_path / 'again')['state_dict'])


def test_a_changed_config_is_refused_with_the_difference(tmp_path, capsys):
    assert train(tmp_path / 'run', 'train_cfg.max_epochs=1') == 0
    changed = ('train_cfg.max_epochs=2', 'optim_wrapper.optimizer.lr=0.5')
    assert train(tmp_path / 'run', *changed, arguments=('--resume',)) == 2
    said = capsys.readouterr().err
    assert 'optim_wrapper.optimizer.lr: 0.1 -> 0.5' in said
    assert 'train_cfg.max_epochs: 1 -> 2' in said
    allowed = ('--resume', '--allow-change', 'train_cfg.max_epochs', 'optim_wrapper')
    assert train(tmp_path / 'run', *changed, arguments=allowed) == 0
