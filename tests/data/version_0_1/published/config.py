default_scope = 'openmix_dm'
randomness = {'seed': 0, 'deterministic': False}
train_cfg = {'type': 'EpochTrainLoop', 'val_interval': 1, 'max_epochs': 2}
val_cfg = {'type': 'ValidationLoop'}
val_evaluator = {'type': 'TopK', 'topk': (1, 5)}
default_hooks = {'records': {'type': 'RecordHook', 'interval': 1},
 'checkpoint': {'type': 'SaveHook', 'save_every_epochs': 1, 'keep': 1}}
train_dataloader = {'dataset': {'type': 'Digits',
             'split': 'train',
             'transforms': [{'type': 'BatchRandomCrop', 'padding': 1, 'mode': 'constant'}],
             'size': 8}}
val_dataloader = {'dataset': {'type': 'Digits', 'split': 'test', 'size': 8}, 'batch_size': 360}
model = {'data_preprocessor': {'type': 'Normalise', 'mean': [78.0, 78.0, 78.0], 'std': [81.4, 81.4, 81.4]},
 'head': {'num_classes': 10, 'type': 'LinearHead', 'loss': {'type': 'DecoupledCE', 'eta': 0.1}},
 'type': 'MixClassifier',
 'backbone': {'type': 'ThinResNet', 'depth': 8},
 'mixer': {'type': 'Mixup', 'alpha': 0.2}}
global_batch_size = 400
optim_wrapper = {'type': 'MixOptimWrapper', 'optimizer': {'type': 'SGD', 'lr': 0.1, 'momentum': 0.9, 'weight_decay': 0.0001}}
param_scheduler = {'type': 'CosineAnnealingLR', 'eta_min': 0, 'by_epoch': True, 'convert_to_iter_based': True}
