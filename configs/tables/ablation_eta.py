# Figures A2 and A3 on the digits: the weight eta of the decoupled regulariser; eta 0 is MCE, bit for bit.
title = 'Digits, ResNet-8, 40 epochs, DM(CE), alpha 0.2: top-1 in % over eta'
columns = ['Mixup', 'CutMix']
rows = {
    f'{eta:g}': [
        dict(config=f'digits/r8_{mixer}_dm.py', options=[f'model.head.loss.eta={eta}']) for mixer in ('mixup', 'cutmix')
    ]
    for eta in (0.0, 0.01, 0.1, 0.5, 1.0, 2.0)
}
axis = 'eta'
baseline = '0'
trials = 3
