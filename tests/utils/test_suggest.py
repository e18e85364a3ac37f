from openmix_dm.utils.suggest import did_you_mean, nearest


def test_nearest_name():
    assert nearest('PuzleMix', ['PuzzleMix', 'CutMix', 'Mixup']) == 'PuzzleMix'
    assert nearest('cutmix', ['PuzzleMix', 'CutMix']) == 'CutMix'
    assert nearest('xyz', ['PuzzleMix']) is None
    assert nearest('colorjiter', ['torchvision/ColorJitter', 'mmcv/Resize']) == 'torchvision/ColorJitter'
    assert nearest('Resize', ['torchvision/Resize', 'mmcv/Resize', 'Resize']) == 'Resize'


def test_words():
    assert did_you_mean('alpah', ['alpha', 'beta']) == '; did you mean alpha? (known: alpha, beta)'
    assert did_you_mean('zzz', [f'name{i}' for i in range(100)]) == ''
