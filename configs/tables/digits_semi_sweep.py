# What costs FixMatch its accuracy when DM is added to it, on the digits with 40 labels: the threshold, the weights of
# mixtures among labelled images (ll) and with unlabelled ones (lu), a head of their own, an average of the weights as
# teacher. 65 runs of about 25 CPU-seconds; seeds 0 to 4.
#   python tools/table.py run digits_semi_sweep && python tools/table.py collect digits_semi_sweep
title = 'Digits, 40 labels, ResNet-8, 400 steps: FixMatch+DM and its parts, top-1 of the averaged weights in %'
columns = ['40 labels']
_plain, _dm = 'digits_semi/r8_fixmatch.py', 'digits_semi/r8_fixmatch_dm.py'
_low, _ll = 'model.labeler.threshold.tau=0.7', 'model.terms.mix.ll_weight'
_teacher = ['model.teacher_decay=0.98', 'model.labeler.where=teacher']
_falling = "model.terms.mix.ll_ramp=dict(type='CosineRamp', falling=True)"
rows = {
    'FixMatch': [_plain],
    'FixMatch, threshold 0.7': [dict(config=_plain, options=[_low])],
    'FixMatch, teacher': [dict(config=_plain, options=_teacher)],
    'FixMatch+DM': [_dm],
    '+DM, threshold 0.7': [dict(config=_dm, options=[_low])],
    '+DM, ll 0.3': [dict(config=_dm, options=[f'{_ll}=0.3'])],
    '+DM, ll 0.1': [dict(config=_dm, options=[f'{_ll}=0.1'])],
    '+DM, ll 0': [dict(config=_dm, options=[f'{_ll}=0.0'])],
    '+DM, ll rising': [dict(config=_dm, options=["model.terms.mix.ll_ramp=dict(type='CosineRamp')"])],
    '+DM, ll falling': [dict(config=_dm, options=[_falling])],
    '+DM, own head': [dict(config=_dm, options=['model.terms.mix.own_head=True'])],
    '+DM, own head and teacher': ['digits_semi/r8_fixmatch_dm-released.py'],
    '+DM, lu 0': [dict(config=_dm, options=['model.terms.mix.lu_weight=0.0'])],
}
baseline = 'FixMatch'
protocol = 'ema_last'
trials = 5
