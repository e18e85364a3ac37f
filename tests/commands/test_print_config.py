from mmengine.config import Config

from openmix_dm.commands.print_config import main


def test_prints_a_config_that_loads(root, capsys, tmp_path):
    assert main([str(root / 'configs/imagenet/r50_mixup_dm.py'), '--cfg-options', 'model.mixer.alpha=0.3']) == 0
    path = tmp_path / 'printed.py'
    path.write_text(capsys.readouterr().out)
    printed = Config.fromfile(path)
    assert printed.model.mixer.alpha == 0.3
    assert printed.model.head.loss.to_dict() == {'type': 'DecoupledCE', 'eta': 0.1}


def test_resolved_shows_what_is_derived(root, capsys):
    assert main([str(root / 'configs/digits/r8_mixup_dm.py'), '--resolved']) == 0
    assert "'T_max': 40" in capsys.readouterr().out


def test_mistakes_are_refused(root, capsys):
    assert main([str(root / 'configs/digits/r8_mixup_dm.py'), '--cfg-options', 'modle=1']) == 2
    assert 'did you mean model' in capsys.readouterr().err
