# Semi-supervised learning from scratch: SGD, 64 labelled images a step, 2 ** 20 steps of 7/16 of a cosine.
# Not printed, as FixMatch has it: momentum, Nesterov, no decay on norms and biases, averaged weights.
# A part without data: a recipe names it beside a data set, and adds the number of steps.
global_batch_size = 64
optim_wrapper = dict(
    type='MixOptimWrapper',
    optimizer=dict(type='SGD', lr=0.03, momentum=0.9, nesterov=True, weight_decay=5e-4),
    paramwise_cfg=dict(norm_decay_mult=0, bias_decay_mult=0),
)
param_scheduler = dict(type='CosineTailLR', share=7 / 16)
