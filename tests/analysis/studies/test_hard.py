import torch
from support.study_calls import study
from support.trained_runs import digits_run, vit_run

from openmix_dm.analysis.studies.hard import make_samples
from openmix_dm.commands.analyze import main


def test_photographs_without_a_model(tmp_path):
    record = study('hard', tmp_path / 'a.png', '--n', 1)
    (pair,) = record['pairs']
    assert (pair['a'], pair['b']) == ('flower', 'temple')
    first, second = pair['samples']
    assert first['lam'] == 1 - first['label_weight']
    assert second['lam'] == second['label_weight']
    for sample in pair['samples']:
        assert abs(sample['label_weight'] - 0.3) <= 0.05
        assert sample['share_of_saliency'] > sample['label_weight']


def test_models_say_what_they_see(tmp_path):
    record = study('hard', tmp_path / 'a.png', digits_run(), vit_run(), '--n', 3)
    assert len(record['pairs']) == 3
    for pair in record['pairs']:
        for sample in pair['samples']:
            assert set(sample['models']) == {'r8_mixup', 'vit'}
            assert all(0 <= p <= 1 for each in sample['models'].values() for p in each.values())


def test_pixels_are_those_of_either_image():
    own, partner = torch.rand(2, 3, 16, 16)
    for sample in make_samples(own, partner, 0.3):
        box = sample.hard.box
        inside = torch.zeros(16, 16, dtype=torch.bool)
        inside[box.top : box.bottom, box.left : box.right] = True
        assert torch.equal(sample.image, torch.where(inside, partner, own))
        assert abs(sample.lam - (1 - inside.float().mean())) < 1e-6


def test_mistakes_are_refused(tmp_path):
    out = ('--out', str(tmp_path / 'a.png'))
    assert main(['hard', '--weight', '1', *out]) == 2
    assert main(['hard', str(digits_run()), '--images', 'digits', *out]) == 2
