"""The values that a semi-supervised cell has by the rules of the paper, and by what is fixed where it says nothing."""

from typing import Any

from openmix_dm.paper.naming import parts_of
from openmix_dm.paper.printed import paper

ETA = ALPHA = 1.0  # not printed: as in the only released config
WEIGHT_DECAY = {'CIFAR-10': 5e-4, 'CIFAR-100': 1e-3}  # from scratch, as FixMatch has it
BATCH = 24  # labelled images of a step of transfer, as Self-Tuning has it
RESOLUTIONS = {'ssl_scratch': 32, 'ssl_transfer': 224}


def expected_semi_values(printed: dict[str, Any]) -> dict[str, Any]:
    """Return what `resolved_values` has to return for the config of a semi-supervised cell.

    Of the mixing only what the paper adds to a method: MixMatch and ReMixMatch mix on their own.
    """
    recipe = printed['setting_fields']['recipe']
    said = paper()['text_recipes'][recipe]
    values = {
        'steps': said['steps'],
        'optimiser': said['optimizer'],
        'lr': said['lr'],
        'weight_decay': said.get('weight_decay') or WEIGHT_DECAY[printed['dataset']],
        'batch': said.get('labeled_batch_size', BATCH),
        'resolution': RESOLUTIONS[recipe],
    }
    loss = parts_of(printed)[3]
    if loss == 'ce':
        return values
    decoupled = loss == 'dm'
    return {
        **values,
        'mixer_type': 'Mixup',
        'alpha': ALPHA,
        'loss_type': 'DecoupledCE' if decoupled else 'MixedCE',
        'eta': ETA if decoupled else None,
    }
