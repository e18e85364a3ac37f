# Does DM(CE) gain over MCE at the same alpha where a network overfits few images? The main part of docs/study.md, with
# seeds that no run before it has had: 96 runs, about four minutes each on one core. As cifar10_few otherwise.
#   python tools/table.py run study_main --jobs 2 && python tools/table.py collect study_main
title = '1,000 images of CIFAR-10, ResNet-8, 100 epochs, same alpha for both losses: top-1 in % after the last epoch'
columns = ['MCE', 'DM(CE)']
_few = ['train_dataloader.sampler.fraction=0.02', 'train_cfg.max_epochs=100', 'train_cfg.val_interval=100']
rows = {
    f'{name}, alpha {alpha:g}': [
        dict(config=f'cifar10-small/r8_{name.lower()}{loss}.py', options=[*_few, f'model.mixer.alpha={alpha}'])
        for loss in ('', '_dm')
    ]
    for name in ('Mixup', 'CutMix')
    for alpha in (0.2, 1.0)
}
baseline = 'MCE'
protocol = 'last'
trials = 12
first_seed = 100
