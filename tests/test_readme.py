"""What the README shows works."""

import re

from conftest import ROOT

README = (ROOT / 'README.md').read_text()


def blocks(language):
    return re.findall(rf'```{language}\n(.*?)```', README, flags=re.DOTALL)


def test_the_loop_of_your_own_runs():
    (code,) = [block for block in blocks('python') if 'criterion' in block]
    space = {}
    exec(code, space)
    assert space['loss'].isfinite()
    assert space['model'][1].weight.grad.abs().sum() > 0


def test_the_config_of_your_own_loads(tmp_path):
    from openmix_dm.engine import config as configs
    from openmix_dm.engine.validate import validate

    (code,) = [block for block in blocks('python') if '_base_' in block]
    path = tmp_path / 'my_experiment.py'
    path.write_text(code.replace("'r8_mixup_dm.py'", repr(str(ROOT / 'configs/digits/r8_mixup_dm.py'))))
    config = configs.load_config(path)
    validate(config)
    assert config.model.mixer.to_dict() == {'type': 'CutMix', 'alpha': 0.2}
    assert config.train_cfg.max_epochs == 20


def test_everything_named_exists():
    from openmix_dm.registry import BACKBONES, DATASETS, LOSSES, MIXERS

    for registry in (MIXERS, LOSSES, BACKBONES, DATASETS):
        registry.import_from_location()
    table = README.split('| what | what there is |')[1].split('\n## ')[0]
    rows = {
        line.split('|')[1].strip(): re.findall(r'`(\w+)`', line) for line in table.splitlines() if line.count('|') > 2
    }
    for kind, registry in (('mixers', MIXERS), ('losses', LOSSES), ('backbones', BACKBONES), ('data sets', DATASETS)):
        own = {name for name, cls in registry.module_dict.items() if cls.__module__.startswith('openmix_dm.')}
        assert set(rows[kind]) == own, kind
    for path in re.findall(r'(?:python |\]\()((?:tools|configs|docs|tests)/[\w/.]+)', README):
        assert (ROOT / path).exists(), path
