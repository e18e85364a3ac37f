# Every static mixer with MCE and with DM(CE) on the embedded digits: 51 runs, about 40 CPU-minutes.
#   python tools/table.py run digits && python tools/table.py collect digits
title = 'Digits, ResNet-8, 40 epochs: static mixers with MCE and with DM(CE), top-1 in %'
columns = ['MCE', 'DM(CE)']
rows = {
    'Vanilla': ['digits/r8_vanilla.py', None],  # without mixed pairs DM(CE) is the cross-entropy, number for number
    'Mixup': ['digits/r8_mixup.py', 'digits/r8_mixup_dm.py'],
    'CutMix': ['digits/r8_cutmix.py', 'digits/r8_cutmix_dm.py'],
    'ManifoldMix': ['digits/r8_manifoldmix.py', 'digits/r8_manifoldmix_dm.py'],
    'FMix': ['digits/r8_fmix.py', 'digits/r8_fmix_dm.py'],
    'ResizeMix': ['digits/r8_resizemix.py', 'digits/r8_resizemix_dm.py'],
    'SaliencyMix': ['digits/r8_saliencymix.py', 'digits/r8_saliencymix_dm.py'],
    'SmoothMix': ['digits/r8_smoothmix.py', 'digits/r8_smoothmix_dm.py'],
    'GridMix': ['digits/r8_gridmix.py', 'digits/r8_gridmix_dm.py'],
}
baseline = 'MCE'
trials = 3
