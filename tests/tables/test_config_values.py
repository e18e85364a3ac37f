"""Thirty cells, written down by hand by the rules of the paper, and by the released alphas where it prints none."""

import pytest
from support.loaded_cells import load

from openmix_dm.paper.paper_tables import paper_tables
from openmix_dm.tables.config_values import resolved_values

SGD_CIFAR = ('SGD', 0.1, 1e-4, 100, 32)
SGD_TINY = ('SGD', 0.2, 1e-4, 100, 64)
PYTORCH = ('SGD', 0.1, 1e-4, 256, 224)
DEIT = ('AdamW', 1e-3, 0.05, 1024, 224)
RSB = ('Lamb', 8e-3, 0.02, 2048, 224)
FINE = ('SGD', 1e-3, 5e-4, 16, 224)
VIT = ('AdamW', 1e-3, 0.05, 100, 224)
CONVNEXT = ('AdamW', 1e-3, 0.05, 100, 32)
CE, DM, BCE, DMBCE = 'MixedCE', 'DecoupledCE', 'MixedBCE', 'DecoupledBCE'

# table, cell: the paper's number, mixer, alpha, loss, eta, t, xi, epochs, (optimiser, lr, weight decay, batch, pixels)
BY_HAND = {
    ('1', 'cifar100/r18/mixup/mce'): (79.12, 'Mixup', 1.0, CE, None, None, None, 800, SGD_CIFAR),
    ('1', 'cifar100/r18/mixup/dm'): (80.44, 'Mixup', 0.2, DM, 0.1, None, None, 800, SGD_CIFAR),
    ('1', 'cifar100/rx50/manifoldmix/mce'): (82.88, 'ManifoldMix', 2.0, CE, None, None, None, 800, SGD_CIFAR),
    ('1', 'cifar100/wrn28-8/cutmix/dm'): (84.88, 'CutMix', 0.2, DM, 0.1, None, None, 800, SGD_CIFAR),
    ('1', 'tiny-imagenet/r18/mixup/dm'): (65.07, 'Mixup', 0.2, DM, 1.0, None, None, 400, SGD_TINY),
    ('1', 'tiny-imagenet/rx50/cutmix/dm'): (67.46, 'CutMix', 0.2, DM, 0.1, None, None, 400, SGD_TINY),
    ('2', 'imagenet/r18/vanilla/ce'): (70.04, 'NoMix', None, CE, None, None, None, 100, PYTORCH),
    ('2', 'imagenet/r18/cutmix/mce'): (68.95, 'CutMix', 0.2, CE, None, None, None, 100, PYTORCH),
    ('2', 'imagenet/r34/cutmix/mce'): (73.58, 'CutMix', 1.0, CE, None, None, None, 100, PYTORCH),
    ('2', 'imagenet/r50/mixup/dm'): (77.41, 'Mixup', 0.2, DM, 0.1, None, None, 100, PYTORCH),
    ('3', 'imagenet/r50-rsb/mix/mbce'): (78.08, 'Mixup | CutMix', [0.1, 1.0], BCE, None, None, None, 100, RSB),
    ('3', 'imagenet/r50-rsb/mix/dmbce'): (
        78.43, 'Mixup | CutMix', [0.1, 1.0], DMBCE, None, [0.5, 1.0], [1.0, 0.8], 100, RSB,
    ),
    ('3', 'imagenet/r50-rsb/mix/dm'): (77.72, 'Mixup | CutMix', [0.1, 1.0], DM, 0.1, None, None, 100, RSB),
    ('3', 'imagenet/r50-rsb/manifoldmix/dmbce'): (78.20, 'ManifoldMix', 0.2, DMBCE, None, 0.5, 1.0, 100, RSB),
    ('3', 'imagenet/r50-rsb/resizemix/dmbce'): (78.32, 'ResizeMix', 0.2, DMBCE, None, 1.0, 0.8, 100, RSB),
    ('4', 'imagenet/deit-s/mix/mce'): (79.80, 'Mixup | CutMix', [0.8, 1.0], CE, None, None, None, 300, DEIT),
    ('4', 'imagenet/swin-t/fmix/dm'): (80.54, 'FMix', 0.2, DM, 0.1, None, None, 300, DEIT),
    ('5', 'cub200/r18/cutmix/mce'): (78.40, 'CutMix', 1.0, CE, None, None, None, 200, FINE),
    ('5', 'aircraft/r18/manifoldmix/dm'): (82.57, 'ManifoldMix', 0.2, DM, 1.0, None, None, 200, FINE),
    ('5', 'cub200/rx50/mixup/dm'): (85.04, 'Mixup', 0.2, DM, 0.1, None, None, 200, FINE),
    ('9', 'cifar100/wrn28-8/puzzlemix-rsb/dm'): (
        85.61, 'PuzzleMix | Mixup | CutMix', [2.0, 0.1, 1.0], DM, [1.0, 0.1, 0.1], None, None, 800, SGD_CIFAR,
    ),
    ('9', 'tiny-imagenet/rx50/automix-rsb/mce'): (
        70.98, 'AutoMix | Mixup | CutMix', [2.0, 0.1, 1.0], CE, None, None, None, 400, SGD_TINY,
    ),
    ('10', 'cifar100/deit-s/cutmix/mce/600e'): (79.54, 'CutMix', 2.0, CE, None, None, None, 600, VIT),
    ('10', 'cifar100/convnext-t/mix/dm/200e'): (
        83.44, 'Mixup | CutMix', [0.8, 1.0], DM, 0.1, None, None, 200, CONVNEXT,
    ),
    ('10', 'cifar100/deit-s/transmix/mce/200e'): (
        76.17, 'Mixup | TransMix', [0.8, 1.0], CE, None, None, None, 200, VIT,
    ),
    ('10', 'cifar100/deit-s/tokenmix/mce/200e'): (
        76.25, 'Mixup | TokenMix', [1.0, 1.0], CE, None, None, None, 200, VIT,
    ),
    ('A2', 'cifar100/r18/saliencymix/dm'): (79.28, 'SaliencyMix', 0.2, DM, 0.1, None, None, 800, SGD_CIFAR),
    ('A3', 'imagenet/r50/puzzlemix/dm'): (77.71, 'PuzzleMix', 2.0, DM, 1.0, None, None, 100, PYTORCH),
    ('A4', 'imagenet/r50-rsb/samix/mbce2'): (77.58, 'SAMix', 2.0, BCE, None, None, None, 100, RSB),
    ('A6', 'aircraft/rx50/automix/dm'): (86.82, 'AutoMix', 2.0, DM, 1.0, None, None, 200, FINE),
    ('A7', 'cifar100/r18/cutmix/dm/400e/fgsm'): (86.84, 'CutMix', 0.2, DM, 0.1, None, None, 400, SGD_CIFAR),
    ('A8', 'cifar100/r18/puzzlemix/dm/15pct'): (43.87, 'PuzzleMix', 2.0, DM, 1.0, None, None, 800, SGD_CIFAR),
}  # fmt: skip


@pytest.mark.parametrize(('source', 'cell_id'), BY_HAND, ids=lambda part: part)
def test_values_written_down_by_hand(source, cell_id):
    printed, mixer, alpha, loss, eta, t, xi, epochs, recipe = BY_HAND[source, cell_id]
    (cell,) = (
        cell for table in paper_tables() if table.source == f'Table {source}' for cell in table.cells
        if cell.id == cell_id
    )  # fmt: skip
    assert cell.printed == printed
    values = resolved_values(load(cell.config))
    assert (values['mixer_type'], values['alpha'], values['epochs']) == (mixer, alpha, epochs)
    assert [values[name] for name in ('loss_type', 'eta', 't', 'xi')] == [loss, eta, t, xi]
    assert tuple(values[name] for name in ('optimiser', 'lr', 'weight_decay', 'batch', 'resolution')) == recipe
    assert values['fraction'] == (0.15 if cell_id.endswith('15pct') else 1.0)
    assert values['two_hot'] is ('mbce2' in cell_id)


def test_probabilities_of_mixtures():
    assert load('cifar100/wrn28-8_automix-rsb_dm.py').model.mixer.probs == [0.5, 0.25, 0.25]
    assert load('imagenet/swin-t_mix_dm.py').model.mixer.probs == [0.5, 0.5]
