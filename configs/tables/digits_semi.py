# The nine methods from scratch of the paper's Table 7 on the embedded digits with 40 labels: 30 runs, about 12
# CPU-minutes. The labelled images are drawn anew for each seed.
#   python tools/table.py run digits_semi && python tools/table.py collect digits_semi
title = 'Digits, 40 labels, ResNet-8, 400 steps: semi-supervised methods, top-1 of the averaged weights in %'
columns = ['40 labels']
rows = {
    'Supervised only': ['digits_semi/r8_supervised.py'],
    'Pseudo-Labeling': ['digits_semi/r8_pseudolabeling.py'],
    'MixMatch': ['digits_semi/r8_mixmatch.py'],
    'ReMixMatch': ['digits_semi/r8_remixmatch.py'],
    'MixMatch+DM': ['digits_semi/r8_mixmatch_dm.py'],
    'UDA': ['digits_semi/r8_uda.py'],
    'FixMatch': ['digits_semi/r8_fixmatch.py'],
    'FlexMatch': ['digits_semi/r8_flexmatch.py'],
    'FixMatch+Mixup': ['digits_semi/r8_fixmatch_mixup.py'],
    'FixMatch+DM': ['digits_semi/r8_fixmatch_dm.py'],
}
baseline = 'Supervised only'
protocol = 'ema_last'
trials = 3
