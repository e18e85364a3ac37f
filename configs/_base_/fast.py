# As fast as the device allows, to be inherited beside a recipe: _base_ = ['r50_mixup_dm.py', '../_base_/fast.py'].
# The numbers are those of another precision and order of sums. `train.py --fast` sets the same.
channels_last = True
prefetch_to_device = True
env_cfg = dict(cudnn_benchmark=True)
optim_wrapper = dict(amp='auto')
model_wrapper_cfg = dict(gradient_as_bucket_view=True)
