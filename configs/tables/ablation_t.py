# Figure A2 on the digits: the exponent t of DM(BCE), which lifts small parts below 1; made for interpolating mixers.
title = 'Digits, ResNet-8, 40 epochs, Mixup with DM(BCE), alpha 0.2: top-1 in % over t'
columns = ['xi 1', 'xi 0.8']
rows = {
    f'{t:g}': [
        dict(config='digits/r8_mixup_dmbce.py', options=[f'model.head.loss.t={t}', f'model.head.loss.xi={xi}'])
        for xi in (1.0, 0.8)
    ]
    for t in (2.0, 1.0, 0.5, 0.3)
}
axis = 't'
baseline = '1'
trials = 3
