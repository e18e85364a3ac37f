# Figure A2, left: the weight eta of the decoupled regulariser; 60 runs. Where eta is a mixer's own by the paper's rule,
# the runs are those of Tables 2 and A3, and their numbers are the only ones of this figure that the paper prints.
#   python tools/table.py run figure_a2_eta && python tools/table.py collect figure_a2_eta --format svg --out eta.svg
source = 'Figure A2'
title = 'ImageNet-1k, ResNet-34, 100 epochs, DM(CE): top-1 in % over eta'
columns = ['Mixup', 'CutMix', 'PuzzleMix', 'AutoMix']
_own = dict(mixup=0.1, cutmix=0.1, puzzlemix=1.0, automix=1.0)
rows = {
    f'{eta:g}': [
        dict(config=f'imagenet/r34_{mixer}_dm.py', options=[] if eta == own else [f'model.head.loss.eta={eta}'])
        for mixer, own in _own.items()
    ]
    for eta in (0.01, 0.1, 0.5, 1.0, 2.0)
}
axis = 'eta'
trials = 3
