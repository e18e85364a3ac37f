import pytest
from support.study_calls import study
from support.trained_runs import digits_run, swin_run, vit_run

from openmix_dm.commands.analyze import main


def test_networks_of_three_kinds_side_by_side(tmp_path):
    record = study('cam', tmp_path / 'a.png', digits_run(), vit_run(), swin_run(), '--n', 3)
    assert [row['name'] for row in record['runs']] == ['r8_mixup', 'vit', 'swin']
    for row in record['runs']:
        assert len(row['images']) == 3
        for image, labels in zip(row['images'], record['labels'], strict=True):
            assert image['both_found'] == (set(image['top2']) == set(labels))
            assert 1 >= image['probability'][0] >= image['probability'][1] >= 0
            for side, label in zip('ab', labels, strict=True):
                assert (f'on_own_part_{side}' in image) == (label in image['top2'])


def test_pairs_can_be_named(tmp_path, capsys):
    run, out = digits_run(), tmp_path / 'a.png'
    record = study('cam', out, run, '--pairs', '3,7', '0,1', '--mixer', 'Mixup', '--lam', 0.4)
    assert record['pairs'] == [[3, 7], [0, 1]]
    assert record['lam'] == pytest.approx([0.4, 0.4])
    for wrong in ('3', '3,360', 'a,b'):
        assert main(['cam', str(run), '--pairs', wrong, '--out', str(out)]) == 2
    assert 'places from 0 to 359' in capsys.readouterr().err
    assert main(['cam', str(run), '--lam', '2', '--out', str(out)]) == 2
