# Figure A2 on the digits: the threshold xi of DM(BCE), where the larger part counts in full; made for cutting mixers.
title = 'Digits, ResNet-8, 40 epochs, CutMix with DM(BCE), alpha 0.2: top-1 in % over xi'
columns = ['t 1', 't 0.5']
rows = {
    f'{xi:g}': [
        dict(config='digits/r8_cutmix_dmbce.py', options=[f'model.head.loss.t={t}', f'model.head.loss.xi={xi}'])
        for t in (1.0, 0.5)
    ]
    for xi in (1.0, 0.9, 0.8, 0.7)
}
axis = 'xi'
baseline = '1'
trials = 3
