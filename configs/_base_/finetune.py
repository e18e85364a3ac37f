# Fine-tuning of ImageNet weights: SGD, batch 16, cosine to 0. Not printed, as released: momentum and schedule.
# A part without data: a recipe names it beside a data set.
global_batch_size = 16
optim_wrapper = dict(type='MixOptimWrapper', optimizer=dict(type='SGD', lr=1e-3, momentum=0.9, weight_decay=5e-4))
param_scheduler = dict(type='CosineAnnealingLR', eta_min=0, by_epoch=True, convert_to_iter_based=True)
