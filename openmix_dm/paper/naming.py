"""What the paper prints, as data, and its words as names of config files, by the grammar of configs/README.md."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDERS = {
    'CIFAR-10': 'cifar10',
    'CIFAR-100': 'cifar100',
    'Tiny-ImageNet': 'tiny-imagenet',
    'ImageNet-1k': 'imagenet',
    'CUB-200-2011': 'cub200',
    'FGVC-Aircraft': 'aircraft',
    'Stanford-Cars': 'cars',
}
BACKBONES = {
    'ResNet-18': 'r18',
    'ResNet-34': 'r34',
    'ResNet-50': 'r50',
    'ResNeXt-50-32x4d': 'rx50',
    'WRN-28-2': 'wrn28-2',
    'WRN-28-8': 'wrn28-8',
    'DeiT-S': 'deit-s',
    'Swin-T': 'swin-t',
    'ConvNeXt-T': 'convnext-t',
}
# Methods whose token is not their identifier in tables.json.
METHODS = {
    'rsb_mixup_cutmix': 'mix',
    'deit_mixup_cutmix': 'mix',
    'puzzlemix_plus_rsb': 'puzzlemix-rsb',
    'automix_plus_rsb': 'automix-rsb',
    'attentivemix_plus': 'attentivemix',
    'deit_transmix': 'transmix',
    'deit_tokenmix': 'tokenmix',
}
LOSSES = {'CE': 'ce', 'MCE': 'mce', 'DM(CE)': 'dm', 'MBCE(one)': 'mbce', 'MBCE(two)': 'mbce2', 'DM(BCE)': 'dmbce'}
UNNAMED = ('ce', 'mce')  # losses that a file's name leaves out
# What is added to a semi-supervised method -> the loss of its mixed samples.
ADDED = {
    '': 'ce',
    'mixup': 'mce',
    'mce': 'mce',
    'mce_plus_as_lambdage05': 'mce-high',  # AS with the labelled image as the larger part
    'mce_plus_as_lambdale05': 'mce-low',
    'dm_ce_plus_as_lambdale05': 'dm',
    'dm': 'dm',
}
ADDED_TOKENS = {'ce': '', 'mce': 'mixup', 'mce-high': 'mixup-high', 'mce-low': 'mixup-low', 'dm': 'dm'}
EPOCHS_OF_COSTS = 600  # Table 10 does not say after how many epochs it measured hours and memory; released notes do


@cache
def paper() -> dict[str, Any]:
    """Return the tables, recipes and hyper-parameters of the paper; nobody changes them."""
    return json.loads(Path(__file__).with_name('tables.json').read_text())


def is_semi(cell: dict[str, Any]) -> bool:
    """Say whether a printed cell is a semi-supervised one."""
    return cell['setting_fields']['recipe'].startswith('ssl_')


def parts_of(printed: dict[str, Any]) -> tuple[str, str, str, str, str]:
    """Return the tokens of a printed cell: folder, backbone, method, loss, variant (which may be empty)."""
    fields, backbone = printed['setting_fields'], BACKBONES[printed['backbone']]
    if fields['recipe'] == 'ssl_scratch':
        folder, variant = f'{FOLDERS[printed["dataset"]]}_semi', str(fields['num_labels'])
        return folder, backbone, *_semi_method(printed), variant
    if fields['recipe'] == 'ssl_transfer':
        folder = f'{FOLDERS[printed["dataset"]].removesuffix("200")}_transfer'
        return folder, backbone, *_semi_method(printed), _percent(fields)
    if fields['recipe'] == 'imagenet_rsb_a3':
        backbone += '-rsb'
    method = METHODS.get(printed['method_id'], printed['method_id'])
    return FOLDERS[printed['dataset']], backbone, method, LOSSES[printed['loss']], _variant(fields)


def config_of(printed: dict[str, Any]) -> str | None:
    """Return the config of a printed cell, relative to configs/; None where the paper prints a dash."""
    if printed['value'] is None:
        return None
    folder, backbone, method, loss, variant = parts_of(printed)
    if folder.endswith(('_semi', '_transfer')):
        loss = ADDED_TOKENS[loss]
    named = [backbone, method, '' if loss in UNNAMED else loss, variant]
    return f'{folder}/{"_".join(filter(None, named))}.py'


def _semi_method(printed: dict[str, Any]) -> tuple[str, str]:
    method, _, added = printed['method_id'].partition('_plus_')
    return method.replace('_', ''), ADDED[added]


def _variant(fields: dict[str, Any]) -> str:
    """Return what of a setting is not that of the recipe."""
    if 'label_fraction' in fields:
        return _percent(fields)
    if fields['recipe'] == 'cifar_vits_deit':
        return f'{fields.get("epochs", EPOCHS_OF_COSTS)}e'
    if fields['recipe'] == 'cifar' and fields['epochs'] != 800:
        return f'{fields["epochs"]}e'
    return ''


def _percent(fields: dict[str, Any]) -> str:
    return f'{round(100 * fields["label_fraction"])}pct'
