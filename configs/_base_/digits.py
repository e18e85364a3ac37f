# scikit-learn's handwritten digits: 1,437 training and 360 test images of 16 px. No flips: a mirrored digit is none.
_base_ = 'runtime.py'

train_dataloader = dict(
    dataset=dict(type='Digits', split='train', transforms=[dict(type='BatchRandomCrop', padding=1, mode='constant')])
)
val_dataloader = dict(dataset=dict(type='Digits', split='test'), batch_size=360)
model = dict(
    data_preprocessor=dict(type='Normalise', mean=[78.0] * 3, std=[81.4] * 3),
    head=dict(num_classes=10),
)
