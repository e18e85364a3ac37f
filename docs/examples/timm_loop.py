"""timm's pieces with a mixer and a loss of openmix_dm in place of timm's Mixup and SoftTargetCrossEntropy.

As in timm's train.py: a model by create_model, create_optimizer_v2, create_scheduler_v2, AverageMeter, accuracy.

python docs/examples/timm_loop.py [EPOCHS]
"""

import sys

import openmix_dm  # noqa: F401  first: it repairs torchvision beside a CPU build of torch

# isort: split
import timm
import torch
from timm.optim import create_optimizer_v2
from timm.scheduler import create_scheduler_v2
from timm.utils import AverageMeter, accuracy
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from openmix_dm.datasets.digits import Digits
from openmix_dm.losses import DecoupledCE
from openmix_dm.mixers import CutMix, Mixup, RandomMixer


def digits(split: str) -> DataLoader:
    """Return batches of normalised digits."""
    data, training = Digits(split), split == 'train'
    images = (data.images.float() / 255 - 0.3) / 0.35
    tensors = TensorDataset(images, torch.as_tensor(data.labels))
    return DataLoader(tensors, batch_size=100, shuffle=training, drop_last=training)


def main(epochs: int = 10) -> float:
    """Train, and return top-1 on the test images in percent."""
    torch.manual_seed(0)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    model = timm.create_model('resnet10t', num_classes=10, channels=(16, 32, 64, 128)).to(device)
    optimizer = create_optimizer_v2(model, opt='adamw', lr=4e-3, weight_decay=0.05)
    loader = digits('train')
    scheduler, epochs = create_scheduler_v2(
        optimizer, 'cosine', num_epochs=epochs, warmup_epochs=1, warmup_lr=1e-4, step_on_epochs=False,
        updates_per_epoch=len(loader),
    )  # fmt: skip
    # timm.data.Mixup(mixup_alpha=0.8, cutmix_alpha=1.0) draws one of the two for a batch, and so does this
    mixer = RandomMixer([Mixup(alpha=0.8), CutMix(alpha=1.0)])
    criterion, updates = DecoupledCE(eta=0.1, label_smoothing=0.1), 0
    for epoch in range(epochs):
        model.train()
        losses = AverageMeter()
        for images, labels in loader:
            mixed = mixer(images.to(device), labels.to(device))
            loss = criterion(model(mixed.inputs), mixed.target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            updates += 1
            scheduler.step_update(updates)
            losses.update(loss.item(), len(labels))
        print(f'epoch {epoch + 1}  loss {losses.avg:.3f}  top-1 {validate(model, device):.1f} %')
    return validate(model, device)


@torch.no_grad()
def validate(model: nn.Module, device: torch.device) -> float:
    """Return top-1 on the test images in percent, by timm's own measure."""
    top1 = AverageMeter()
    for images, labels in digits('test'):
        (hits,) = accuracy(model.eval()(images.to(device)), labels.to(device), topk=(1,))
        top1.update(float(hits), len(labels))
    return top1.avg


if __name__ == '__main__':
    main(*map(int, sys.argv[1:]))
