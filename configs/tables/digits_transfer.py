# The eight transfer methods of Table 6 on the embedded digits: from 0-4 to 5-9 with 20 labels; 24 runs, about 15
# CPU-minutes. The labelled images are drawn anew for each seed; all runs start from the same weights:
#   python tools/train.py configs/digits_transfer/r8_source.py
#   python tools/table.py run digits_transfer && python tools/table.py collect digits_transfer
title = 'Digits 5 to 9 from 0 to 4, 20 labels, ResNet-8, 540 steps: transfer methods, top-1 in % after the last step'
columns = ['method alone', '+Mixup', '+DM']
rows = {
    'Fine-Tuning': ['digits_transfer/r8_finetuning.py', None, 'digits_transfer/r8_finetuning_dm.py'],
    'BSS': ['digits_transfer/r8_bss.py', None, None],
    'Co-Tuning': ['digits_transfer/r8_cotuning.py', None, 'digits_transfer/r8_cotuning_dm.py'],
    'Self-Tuning': [
        'digits_transfer/r8_selftuning.py',
        'digits_transfer/r8_selftuning_mixup.py',
        'digits_transfer/r8_selftuning_dm.py',
    ],
}
baseline = 'method alone'
protocol = 'last'
trials = 3
