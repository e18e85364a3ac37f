# Figure A2, middle: the threshold xi of DM(BCE), where the larger part counts in full; 48 runs. Each mixer
# keeps its own t by the paper's rule, which is that of its config; twelve of the runs are in figure_a2_t, too.
#   python tools/table.py run figure_a2_xi && python tools/table.py collect figure_a2_xi --format svg --out xi.svg
source = 'Figure A2'
title = 'ImageNet-1k, ResNet-34, RSB A3, 100 epochs, DM(BCE): top-1 in % over xi'
columns = ['CutMix, t 1', 'AutoMix, t 1', 'Mixup, t 0.5', 'ManifoldMix, t 0.5']
_own = dict(cutmix=0.8, automix=0.8, mixup=1.0, manifoldmix=1.0)
rows = {
    f'{xi:g}': [
        dict(config=f'imagenet/r34-rsb_{mixer}_dmbce.py', options=[] if xi == own else [f'model.head.loss.xi={xi}'])
        for mixer, own in _own.items()
    ]
    for xi in (1.0, 0.9, 0.8, 0.7)
}
axis = 'xi'
baseline = '1'
trials = 3
