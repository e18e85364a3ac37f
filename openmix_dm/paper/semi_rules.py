"""The values that a semi-supervised cell has by the rules of the paper, and by what is fixed where it says nothing."""

from typing import Any

from openmix_dm.paper.naming import parts_of
from openmix_dm.paper.printed import paper

ETA = ALPHA = 1.0  # not printed: as in the only released config
WEIGHT_DECAY = {'CIFAR-10': 5e-4, 'CIFAR-100': 1e-3}  # from scratch, as FixMatch has it
BATCH = 24  # labelled images of a step of transfer, as Self-Tuning has it
OWN_ALPHA = {'mixmatch': 0.5, 'remixmatch': 0.75}  # of methods that mix on their own, as TorchSSL has it
RESOLUTIONS = {'ssl_scratch': 32, 'ssl_transfer': 224}


def expected_semi_values(printed: dict[str, Any]) -> dict[str, Any]:
    """Return what `resolved_values` has to return for the config of a semi-supervised cell.

    Of the mixing what the paper adds to a method, or what a method does on its own.
    """
    fields = printed['setting_fields']
    recipe = fields['recipe']
    said = paper()['text_recipes'][recipe]
    values = {
        'steps': said['steps'],
        'optimiser': said['optimizer'],
        'lr': said['lr'],
        'weight_decay': said.get('weight_decay') or WEIGHT_DECAY[printed['dataset']],
        'batch': said.get('labeled_batch_size', BATCH),
        'resolution': RESOLUTIONS[recipe],
        **({'labels': fields['num_labels']} if 'num_labels' in fields else {'fraction': fields['label_fraction']}),
    }
    method, loss = parts_of(printed)[2:4]
    if loss == 'ce':
        return {**values, 'alpha': OWN_ALPHA.get(method)}
    decoupled = loss == 'dm'
    return {
        **values,
        'mixer_type': 'Mixup',
        'alpha': ALPHA,
        'loss_type': 'DecoupledCE' if decoupled else 'MixedCE',
        'eta': ETA if decoupled else None,
    }
