# Figure A3 on CUB-200: the weight eta of the decoupled regulariser; 60 runs. The paper does not say of which mixers,
# so they are those of Figure A2. Where eta is their own by its rule, the runs are those of Tables 5 and A6.
#   python tools/table.py run figure_a3_cub
source = 'Figure A3'
title = 'CUB-200-2011, ResNet-18, 200 epochs, DM(CE): top-1 in % over eta'
columns = ['Mixup', 'CutMix', 'PuzzleMix', 'AutoMix']
_own = dict(mixup=1.0, cutmix=1.0, puzzlemix=1.0, automix=1.0)
rows = {
    f'{eta:g}': [
        dict(config=f'cub200/r18_{mixer}_dm.py', options=[] if eta == own else [f'model.head.loss.eta={eta}'])
        for mixer, own in _own.items()
    ]
    for eta in (0.01, 0.1, 0.5, 1.0, 2.0)
}
axis = 'eta'
trials = 3
