# Does DM(CE) gain over MCE at alpha 0.2, which is the paper's for it? The second study of docs/study.md, as study_main
# but for the seeds, which no run before it has had, and without the rows at alpha 1: 48 runs, three minutes each on
# one core.
#   python tools/table.py run study_alpha --jobs 2 && python tools/table.py collect study_alpha
title = '1,000 images of CIFAR-10, ResNet-8, 100 epochs, alpha 0.2 for both losses: top-1 in % after the last epoch'
columns = ['MCE', 'DM(CE)']
_few = ['train_dataloader.sampler.fraction=0.02', 'train_cfg.max_epochs=100', 'train_cfg.val_interval=100']
rows = {
    f'{name}, alpha 0.2': [
        dict(config=f'cifar10-small/r8_{name.lower()}{loss}.py', options=[*_few, 'model.mixer.alpha=0.2'])
        for loss in ('', '_dm')
    ]
    for name in ('Mixup', 'CutMix')
}
baseline = 'MCE'
protocol = 'last'
trials = 12
first_seed = 200
