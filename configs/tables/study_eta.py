# A side part of docs/study.md: Mixup at alpha 1 with eta 1 instead of 0.1. 12 runs more, about four minutes each on one
# core; the other two columns are runs of study_main.
#   python tools/table.py run study_eta --jobs 2 && python tools/table.py collect study_eta
title = '1,000 images of CIFAR-10, ResNet-8, 100 epochs, Mixup at alpha 1: top-1 in % after the last epoch'
columns = ['MCE', 'DM(CE), eta 0.1', 'DM(CE), eta 1']
_few = ['train_dataloader.sampler.fraction=0.02', 'train_cfg.max_epochs=100', 'train_cfg.val_interval=100']
_alpha = [*_few, 'model.mixer.alpha=1.0']
rows = {
    'Mixup, alpha 1': [
        dict(config='cifar10-small/r8_mixup.py', options=_alpha),
        dict(config='cifar10-small/r8_mixup_dm.py', options=_alpha),
        dict(config='cifar10-small/r8_mixup_dm.py', options=[*_alpha, 'model.head.loss.eta=1.0']),
    ]
}
baseline = 'MCE'
protocol = 'last'
trials = 12
first_seed = 100
