# DM(CE) against MCE at the same alpha, where a network overfits: 1,000 images of CIFAR-10. 27 runs, about four minutes
# each on one core. The images are drawn anew for each seed, the same ones for every row and column.
#   python tools/table.py run cifar10_few && python tools/table.py collect cifar10_few
title = '1,000 images of CIFAR-10, ResNet-8, 100 epochs, same alpha for both losses: top-1 in % after the last epoch'
columns = ['MCE', 'DM(CE)']
_few = ['train_dataloader.sampler.fraction=0.02', 'train_cfg.max_epochs=100', 'train_cfg.val_interval=100']
rows = {'Vanilla': [dict(config='cifar10-small/r8_vanilla.py', options=_few), None]} | {
    f'{name}, alpha {alpha:g}': [
        dict(config=f'cifar10-small/r8_{name.lower()}{loss}.py', options=[*_few, f'model.mixer.alpha={alpha}'])
        for loss in ('', '_dm')
    ]
    for name in ('Mixup', 'CutMix')
    for alpha in (0.2, 1.0)
}
baseline = 'MCE'
protocol = 'last'
trials = 3
