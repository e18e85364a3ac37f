# Figure A2, right: the exponent t of DM(BCE), which lifts small parts below 1; 48 runs. Each mixer
# keeps its own xi by the paper's rule, which is that of its config; twelve of the runs are in figure_a2_xi, too.
#   python tools/table.py run figure_a2_t && python tools/table.py collect figure_a2_t --format svg --out t.svg
source = 'Figure A2'
title = 'ImageNet-1k, ResNet-34, RSB A3, 100 epochs, DM(BCE): top-1 in % over t'
columns = ['CutMix, xi 0.8', 'AutoMix, xi 0.8', 'Mixup, xi 1', 'ManifoldMix, xi 1']
_own = dict(cutmix=1.0, automix=1.0, mixup=0.5, manifoldmix=0.5)
rows = {
    f'{t:g}': [
        dict(config=f'imagenet/r34-rsb_{mixer}_dmbce.py', options=[] if t == own else [f'model.head.loss.t={t}'])
        for mixer, own in _own.items()
    ]
    for t in (2.0, 1.0, 0.5, 0.3)
}
axis = 't'
baseline = '1'
trials = 3
