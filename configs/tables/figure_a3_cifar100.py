# Figure A3 on CIFAR-100: the weight eta of the decoupled regulariser; 60 runs. The paper does not say of which mixers,
# so they are those of Figure A2. Where eta is their own by its rule, the runs are those of Tables 1 and A2.
#   python tools/table.py run figure_a3_cifar100
source = 'Figure A3'
title = 'CIFAR-100, ResNet-18, 800 epochs, DM(CE): top-1 in % over eta'
columns = ['Mixup', 'CutMix', 'PuzzleMix', 'AutoMix']
_own = dict(mixup=0.1, cutmix=0.1, puzzlemix=1.0, automix=1.0)
rows = {
    f'{eta:g}': [
        dict(config=f'cifar100/r18_{mixer}_dm.py', options=[] if eta == own else [f'model.head.loss.eta={eta}'])
        for mixer, own in _own.items()
    ]
    for eta in (0.01, 0.1, 0.5, 1.0, 2.0)
}
axis = 'eta'
trials = 3
