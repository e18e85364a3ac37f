# A side part of docs/study.md: Mixup at alpha 1 with ResNet-20, which overfits more than ResNet-8. 12 runs, about 13
# minutes each on one core.
#   python tools/table.py run study_deeper --jobs 2 && python tools/table.py collect study_deeper
title = '1,000 images of CIFAR-10, ResNet-20, 100 epochs, Mixup at alpha 1: top-1 in % after the last epoch'
columns = ['MCE', 'DM(CE)']
_few = ['train_dataloader.sampler.fraction=0.02', 'train_cfg.max_epochs=100', 'train_cfg.val_interval=100']
_deeper = [*_few, 'model.backbone.depth=20', 'model.mixer.alpha=1.0']
rows = {'Mixup, alpha 1': [dict(config=f'cifar10-small/r8_mixup{loss}.py', options=_deeper) for loss in ('', '_dm')]}
baseline = 'MCE'
protocol = 'last'
trials = 6
first_seed = 100
