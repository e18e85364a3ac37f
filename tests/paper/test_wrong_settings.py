"""The reverse of `table.py check`: whatever is changed in a leaf, the check says so and names it."""

import random
import re
from dataclasses import dataclass, replace
from fnmatch import fnmatch

import pytest
from support.loaded_cells import load

from openmix_dm.config.settings import settings_of
from openmix_dm.paper.paper_tables import paper_tables
from openmix_dm.tables.config_values import resolved_values
from openmix_dm.tables.feasibility import check, read, wrong_values

LEAVES = {cell.config: (table, cell) for table in paper_tables() for cell in table.runnable()}
SUPERVISED = [name for name in LEAVES if not name.split('/')[0].endswith(('_semi', '_transfer'))]


@dataclass(frozen=True)
class Change:
    """What is changed: the first setting that matches, or an option as it is; what the check has to name."""

    setting: str
    value: object
    leaves: str = '*'
    option: str = ''
    named: str = ''

    def of(self, settings):
        """The option that makes the change, and the setting; None where it does not apply."""
        if self.option:
            return self.option, self.setting
        for name, value in settings.items():
            if re.search(self.setting, name) and value != self.value:
                return f'{name}={self.value!r}', name
        return None


CHANGES = {
    'lr': Change(r'^optim_wrapper\.optimizer\.lr$', 0.37, named='lr'),
    'weight decay': Change(r'^optim_wrapper\.optimizer\.weight_decay$', 0.37, named='weight_decay'),
    'momentum': Change(r'^optim_wrapper\.optimizer\.momentum$', 0.37),
    'betas': Change(r'^optim_wrapper\.optimizer\.betas$', [0.9, 0.95], 'imagenet/*'),
    'clipping of LAMB': Change(
        'optimizer.max_grad_norm', 5, 'imagenet/r50-rsb*', 'optim_wrapper.optimizer.max_grad_norm=5'
    ),
    'epochs': Change(r'^train_cfg\.max_epochs$', 37, named='epochs'),
    'steps': Change(r'^train_cfg\.max_iters$', 37000, '*_*/*', named='steps'),
    'batch size': Change(r'^global_batch_size$', 48, named='batch'),
    'alpha': Change(r'^model\.mixer.*\.alpha$', 0.37, named='alpha'),
    'eta': Change(r'^model\.head\.loss.*\.eta$', 0.37, named='eta'),
    't': Change(r'^model\.head\.loss.*\.t$', 0.37, '*dmbce*', named='t'),
    'xi': Change(r'^model\.head\.loss.*\.xi$', 0.37, '*dmbce*', named='xi'),
    'padding of crops': Change(r'^train_.*\.padding$', 3),
    'area of crops': Change(r'^train_.*\.scale$', [0.3, 1.0], '[aic][mu][ab]*'),
    'interpolation': Change(r'^train_.*\.0\.interpolation$', 'nearest', 'imagenet/*'),
    'interpolation of tests': Change(r'^val_.*\.interpolation$', 'nearest', 'imagenet/*'),
    'size of tests': Change(r'^val_.*\.size$', 192, 'imagenet/*'),
    'mean': Change(r'^model\.data_preprocessor\.mean$', [125.3, 123.0, 113.9], 'cifar100/*'),
    'std': Change(r'^model\.data_preprocessor\.std$', [1.0, 2.0, 3.0]),
    'policy': Change(r'\.policy$', 'rand-m3-mstd0.5', 'imagenet/[ds]*'),
    'operations': Change(
        'operations', None, 'cifar100/deit-s*', 'train_dataloader.dataset.transforms.2.operations=["Rotate"]'
    ),
    'lr of the mix block': Change(
        'custom_keys.mixer.lr_mult', 3, '[ct]*/*mix*', 'optim_wrapper.paramwise_cfg.custom_keys.mixer.lr_mult=3'
    ),
    'end of the mix block': Change(r'\.?mixer_eta_min$', 0.03, 'tiny*'),
    'momentum of the mix block': Change(
        'custom_keys.mixer.momentum',
        0.5,
        '*wrn28-8_samix*',
        'optim_wrapper.paramwise_cfg.custom_keys.mixer.momentum=0.5',
    ),
    'momentum network': Change(r'^model\.mixer.*\.momentum_end$', 0.9995, '*amix*'),
    'teacher': Change(r'\.teacher\.name$', 'resnet18.tv_in1k', '*attentivemix*'),
    'interpolation of ResizeMix': Change(r'^model\.mixer\.interpolation$', 'nearest', '*t-s_resizemix*'),
    'probabilities': Change(r'^model\.mixer\.probs$', [0.4, 0.6], '*_mix_*'),
    'clipping': Change(r'clip_grad\.max_norm$', 2.5, 'imagenet/[ds]*'),
    'clipping where there is none': Change(
        'clip_grad.max_norm', 2.5, 'cifar100/convnext*', 'optim_wrapper.clip_grad.max_norm=2.5'
    ),
    'precision': Change('optim_wrapper.amp', 'bf16', '*', "optim_wrapper.amp='bf16'"),
    'warm-up': Change(r'^param_scheduler\.0\.end$', 3, '*/[dsc]*'),
    'momentum of the EMA': Change(r'\.ema\.decay$', 0.9, 'imagenet/[ds]*'),
    'an EMA where there is none': Change(
        'default_hooks.ema.decay', 0.9, 'tiny*', "default_hooks.ema={'type': 'EmaHook', 'decay': 0.9}"
    ),
    'least lr': Change(r'\.eta_min$', 0.01),
    'label smoothing': Change(r'\.label_smoothing$', 0.3),
    'stochastic depth': Change(r'^model\.backbone\.drop_path_rate$', 0.33, '*/[dsc]*'),
    'repeated augmentation': Change(r'^train_dataloader\.repeats$', 2, 'imagenet/[ds]*'),
    'random erasing': Change(r'\.erasing\.prob$', 0.5, 'imagenet/[ds]*'),
    'another mixer': Change(
        'mixer_type', None, 'c*/*_mixup.py', "model.mixer={'_delete_': True, 'type': 'CutMix', 'alpha': 0.2}"
    ),
    'another loss': Change(
        'loss_type', None, 'cifar100/r18_*[xp].py', "model.head.loss={'_delete_': True, 'type': 'MixedBCE'}"
    ),
    'another network': Change(r'^model\.backbone\.depth$', 34, '*/r18*'),
    'share of images': Change(r'\.fraction$', 0.37, '*pct*', named='fraction'),
    'labels': Change(r'\.dataset\.count$', 37, '*_semi*', named='labels'),
    'confidence': Change(r'\.threshold\.tau$', 0.7, '*_semi*match*'),
    'unlabelled images': Change(r'\.dataset\.ratio$', 5, '*_semi*'),
}


def wrong(name, *options):
    """What the check says of a leaf with options."""
    table, cell = LEAVES[name]
    facts = read((name, options))
    assert facts.state == 'ok', facts.problem
    return wrong_values(table, cell, facts.values, facts.settings)


def spoilt(change, count, seed):
    """Leaves to which a change applies, drawn by seed, each with the option and what has to be named."""
    names = sorted(name for name in LEAVES if fnmatch(name, change.leaves))
    random.Random(seed).shuffle(names)
    found = []
    for name in names:
        made = change.of(settings_of(load(name)))
        if made is not None:
            found.append((name, *made))
        if len(found) == count:
            break
    assert found, 'no leaf has this setting'
    return found


@pytest.mark.parametrize('kind', CHANGES)
def test_any_change_is_found_and_named(kind):
    is_found_and_named(kind, count=1, seed=0)


def is_found_and_named(kind, count, seed):
    change = CHANGES[kind]
    for name, option, setting in spoilt(change, count, f'{seed} {kind}'):
        told = wrong(name, option)
        expected = change.named or setting
        assert any(re.match(rf'(.*\.)?{re.escape(expected)} is ', line) for line in told), (name, option, told)


@pytest.mark.slow
@pytest.mark.parametrize('kind', CHANGES)
def test_any_change_is_found_in_many_leaves(kind):
    is_found_and_named(kind, count=8, seed=1)


# Names that no table asks for: where data are, how they are read, and what the tests of tests/semi are about.
NOT_COMPARED = re.compile(
    r'\.(root|imdecode_backend|max_pixels|on_error|skip_limit|data_prefix|dataset\.transforms)$'
    r'|^model\.(terms|labeler|passes|head\.type)\b|^train_dataloader\.dataset\.(count|fraction)$'
)


def other(value):
    """A value that is not this one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return [*value, 'more'] if isinstance(value, list) else f'{value} of another kind'


@pytest.mark.parametrize('seed', range(3))
def test_every_single_setting_of_a_leaf_is_compared(seed):
    names = random.Random(seed).sample(sorted(SUPERVISED), 4) + random.Random(seed).sample(sorted(LEAVES), 2)
    for name in names:
        table, cell = LEAVES[name]
        values, settings = resolved_values(load(name)), settings_of(load(name))
        assert wrong_values(table, cell, values, settings) == []
        for setting, value in settings.items():
            if not NOT_COMPARED.search(setting):
                (told,) = wrong_values(table, cell, values, {**settings, setting: other(value)})
                assert told.startswith(f'{setting} is {other(value)}, but {value} by '), told


def test_an_argument_more_is_found_and_a_default_may_be_said():
    told = wrong('cifar100/r18_mixup.py', 'model.mixer.per_sample=True')
    assert told == [
        'model.mixer.per_sample is True, but False by original hyper-parameters of Mixup, as released; '
        'alpha by Appendix B.3'
    ]
    assert wrong('cifar100/r18_mixup.py', 'model.mixer.per_sample=False', 'model.head.loss.label_smoothing=0') == []


def test_every_source_is_named():
    for table, cell in LEAVES.values():
        assert all(len(said.source) > 5 for said in table.settings(cell).values())


def test_the_command_fails_and_says_so(capsys):
    """Through the whole of `table.py check`, with a model that is built and tried."""
    table, cell = LEAVES['cifar100/r18_mixup_dm.py']
    cell = replace(cell, options=('optim_wrapper.clip_grad.max_norm=2.0',))
    assert check([replace(table, cells=(cell,))], jobs=1) == 1
    told, last = capsys.readouterr().out.splitlines()
    assert 'optim_wrapper.clip_grad.max_norm is 2.0, but None by Appendix B.2, Table A1' in told
    assert last == '0 of 1 cells ok, 0 printed as -'
