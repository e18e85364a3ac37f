import matplotlib
import pytest
import torch
from reference.mixed import slow_hits
from support.small_models import HiddenDouble
from support.study_calls import study
from support.trained_runs import digits_run, vit_run

from openmix_dm.analysis.mixed_images import draw_pairs, mix_pixels
from openmix_dm.commands.analyze import main
from openmix_dm.datasets.digits import Digits
from openmix_dm.errors import ConfigError
from openmix_dm.runs.model import open_trained


def test_mixup_by_hand(tmp_path):
    record = study('mixed-accuracy', tmp_path / 'a.png', digits_run(), vit_run(), '--mixers', 'Mixup', '--lams', 0.3, 1)
    data, model = Digits('test'), open_trained(digits_run()).model
    pairs = draw_pairs(data.labels, range(360))
    y_a, y_b = data.labels[pairs.own], data.labels[pairs.partner]
    assert record['pairs'] == len(y_a) < 360
    assert bool((y_a != y_b).all())
    own, partner = (data.images[places].float() for places in (pairs.own, pairs.partner))
    for place, lam in enumerate((0.3, 1.0)):
        with torch.no_grad():
            logits = model(((lam * own + (1 - lam) * partner) - 78.0) / 81.4)
        for kind, hits in zip(('top1', 'top2'), slow_hits(logits, y_a, y_b), strict=True):
            row = record['runs'][0]['mixers']['Mixup']
            assert row[kind][place] == pytest.approx(100 * sum(hits) / len(hits), abs=0.4)
            assert row['images'][place] == len(hits)


def test_cut_images_are_binned_by_what_they_show_and_the_same_for_all(tmp_path):
    run = digits_run()
    arguments = (run, run, '--names', 'a', 'b', '--mixers', 'CutMix', 'PuzzleMix', '--limit', 100)
    twice = study('mixed-accuracy', tmp_path / 'a.png', *arguments)
    one, other = (row['mixers'] for row in twice['runs'])
    assert one == other
    counts = one['CutMix']['images']
    assert sum(counts) == 9 * twice['pairs']
    assert len(set(counts)) > 1  # boxes are cut off at the border
    torch.rand(1)
    assert twice == study('mixed-accuracy', tmp_path / 'b.png', *arguments)


def test_too_few_images_are_said_to_be_and_the_legend_stays(tmp_path):
    with matplotlib.rc_context({'svg.fonttype': 'none'}):  # letters stay letters
        study('mixed-accuracy', tmp_path / 'a.svg', digits_run(), '--names', 'Ours', '--limit', 20, '--mixers', 'Mixup')
    drawn = (tmp_path / 'a.svg').read_text()
    assert drawn.count('fewer than 30 images at each lam') == 2
    assert '>Ours</text>' in drawn


def test_mistakes_are_refused(tmp_path, capsys):
    out, run = ('--out', str(tmp_path / 'a.png')), str(digits_run())
    assert main(['mixed-accuracy', run, '--mixers', 'TransMix', *out]) == 2
    assert 'takes lam from attention' in capsys.readouterr().err
    assert main(['mixed-accuracy', run, '--mixers', 'CutMixx', *out]) == 2
    assert main(['mixed-accuracy', run, '--lams', '1.2', *out]) == 2
    assert main(['mixed-accuracy', run, '--limit', '1', *out]) == 2


def test_what_is_mixed_inside_a_network_is_refused():
    with pytest.raises(ConfigError, match='differ from model to model'):
        mix_pixels(HiddenDouble(1.0), torch.rand(4, 3, 8, 8), 0.5, 0)
