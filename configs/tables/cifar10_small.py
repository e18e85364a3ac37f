# A tenth of CIFAR-10 with a small network: 15 runs, about two minutes each on one core. A network that underfits gains
# nothing from mixing: this shows that the machinery works on photographs, not what DM(CE) can do.
#   python tools/table.py run cifar10_small && python tools/table.py collect cifar10_small
title = 'A tenth of CIFAR-10 (5,000 images), ResNet-8, 8 epochs: top-1 in % on the test set after the last epoch'
columns = ['MCE', 'DM(CE)']
rows = {
    'Vanilla': ['cifar10-small/r8_vanilla.py', None],
    'Mixup': ['cifar10-small/r8_mixup.py', 'cifar10-small/r8_mixup_dm.py'],
    'CutMix': ['cifar10-small/r8_cutmix.py', 'cifar10-small/r8_cutmix_dm.py'],
}
baseline = 'MCE'
protocol = 'last'
trials = 3
