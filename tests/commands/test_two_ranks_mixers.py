"""Two ranks train with mixers that ask a network: their weights, momentum networks too, stay the same."""

import sys

import pytest
from support.command_runs import run

SMALL = (
    'train_cfg.max_epochs=2',
    'global_batch_size=200',
    'train_dataloader.dataset.size=8',
    'val_dataloader.dataset.size=8',
)
VIT = (
    "model.backbone=dict(_delete_=True, type='TimmBackbone', name='vit_tiny_patch16_224', img_size=8, "
    'options=dict(patch_size=2, depth=1, embed_dim=24, num_heads=2))'
)
LEARNED = "stage='stage2', momentum=0.9, momentum_end=0.99"
RUNS = {
    'a learned mixer': (f"model.mixer=dict(_delete_=True, type='SAMix', {LEARNED})",),
    'a mixture, some of whose policies learn': (
        f"model.mixer=dict(_delete_=True, type='RandomMixer', mixers=[dict(type='AutoMix', {LEARNED}), "
        "dict(type='PuzzleMix', alpha=1.0), dict(type='NoMix')])",
    ),
    'a mixer that works against the model, of three images': (
        f"model.mixer=dict(_delete_=True, type='AdAutoMix', images=3, {LEARNED})",
        "model.head.loss=dict(_delete_=True, type='MixedCE')",
    ),
    'the batch before of each rank': (
        "model.mixer=dict(_delete_=True, type='RecursiveMix', alpha=0.5)",
        "model.head.loss=dict(_delete_=True, type='MixedCE')",
    ),
    'partners by saliency, and clean images now and then': (
        "model.mixer=dict(_delete_=True, type='RandomMixer', mixers=[dict(type='GuidedMixup', saliency='gradient', "
        "clean_weight=0.5), dict(type='NoMix')])",
    ),
    'windows by attention with a head of their own, and labels by it': (
        VIT,
        "model.mixer=dict(_delete_=True, type='RandomMixer', mixers=[dict(type='SMMix'), "
        "dict(type='MixPro', cell_size=4)])",
    ),
    'labels by attention': (
        VIT,
        "model.mixer=dict(_delete_=True, type='RandomMixer', mixers=[dict(type='TransMix', mixer=dict(type='CutMix', "
        "alpha=1.0)), dict(type='TokenMix', alpha=1.0, patch_size=2, minimum_tokens=2)])",
    ),
}
SPY = """
import sys
sys.path.insert(0, {root!r})
import torch.distributed as dist
from openmix_dm.engine.hooks import MixerStepHook
from openmix_dm.engine.hooks.proof import digest
from openmix_dm.commands.train import main
step = MixerStepHook.after_train_iter
def spy(self, runner, *args, **options):
    step(self, runner, *args, **options)
    with open({out!r} + str(dist.get_rank()), 'a') as file:
        print(digest(*runner.bare_model.parameters()), file=file)
MixerStepHook.after_train_iter = spy
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize('name', RUNS)
def test_ranks_stay_together(name, tmp_path, root):
    script = tmp_path / 'spy.py'
    script.write_text(SPY.format(root=str(root), out=str(tmp_path / 'weights')))
    config = str(root / 'configs' / 'digits' / 'r8_vanilla_dm.py')
    launch = (sys.executable, '-m', 'torch.distributed.run', '--standalone', '--nproc_per_node', '2', str(script))
    arguments = (config, '--work-dir', str(tmp_path / 'run'), '--launcher', 'pytorch', '--cfg-options')
    code, _, err = run(*launch, *arguments, *SMALL, *RUNS[name])
    assert code == 0, err
    first, second = ((tmp_path / f'weights{rank}').read_text().splitlines() for rank in (0, 1))
    assert len(first) == len(set(first)) == 14
    assert first == second
