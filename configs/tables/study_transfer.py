# The transfer part of docs/study.md: digits_transfer's Fine-Tuning and Self-Tuning with 10 new seeds; 40 runs, about a
# minute each on one core. All start from the same weights:
#   python tools/train.py configs/digits_transfer/r8_source.py
#   python tools/table.py run study_transfer --jobs 2 && python tools/table.py collect study_transfer
title = 'Digits 5 to 9 from 0 to 4, 20 labels, ResNet-8, 540 steps: top-1 in % after the last step'
columns = ['method alone', '+DM']
rows = {
    'Fine-Tuning': ['digits_transfer/r8_finetuning.py', 'digits_transfer/r8_finetuning_dm.py'],
    'Self-Tuning': ['digits_transfer/r8_selftuning.py', 'digits_transfer/r8_selftuning_dm.py'],
}
baseline = 'method alone'
protocol = 'last'
trials = 10
first_seed = 100
