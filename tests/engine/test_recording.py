from openmix_dm.engine.hooks.recording import describe

TRAIN = {
    'kind': 'train', 'iter': 50, 'epoch': 2, 'lr': 0.1, 'loss_cls': 0.5, 'loss': 0.5, 'images_per_s': 1234.5,
}  # fmt: skip
VAL = {'kind': 'val', 'iter': 60, 'epoch': 2, 'top1': 98.7654, 'top5': 100.0}


def test_records_in_words():
    assert describe(TRAIN, 10) == 'epoch 2/10  iter 50  lr 0.1  loss 0.5000  1234 images/s'
    assert describe({**TRAIN, 'loss_mixer': 0.25}, 10).count('loss') == 3
    assert describe(VAL, 10) == 'epoch 2/10  validation  top1 98.77  top5 100.00'
