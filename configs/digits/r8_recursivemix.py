# Digits, ResNet-8, RecursiveMix with MCE: alpha and omega as in its authors' code. Labels of many classes have no DM.
_base_ = 'r8.py'

model = dict(mixer=dict(type='RecursiveMix', alpha=0.5, omega=0.5))
