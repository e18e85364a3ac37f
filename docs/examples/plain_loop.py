"""A plain PyTorch loop: a mixer as the collate function of a data loader, and DM(CE) as the loss.

python docs/examples/plain_loop.py [EPOCHS]
"""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from openmix_dm.backbones import ThinResNet
from openmix_dm.datasets.digits import Digits
from openmix_dm.losses import DecoupledCE
from openmix_dm.mixers import CutMix, MixCollate


def digits(split: str) -> TensorDataset:
    """Return the digits as normalised floats, as a data set of yours would serve them."""
    data = Digits(split)
    return TensorDataset((data.images.float() / 255 - 0.3) / 0.35, torch.as_tensor(data.labels))


def main(epochs: int = 10) -> float:
    """Train, and return the accuracy on the test images."""
    torch.manual_seed(0)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    loader = DataLoader(
        digits('train'),
        batch_size=100,
        shuffle=True,
        drop_last=True,
        num_workers=2,  # the workers mix, while the model trains
        pin_memory=device.type == 'cuda',
        collate_fn=MixCollate(CutMix(alpha=0.2)),
    )
    model = nn.Sequential(backbone := ThinResNet(depth=8), nn.Linear(backbone.num_features, 10)).to(device)
    criterion = DecoupledCE(eta=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=epochs * len(loader))
    for epoch in range(epochs):
        model.train()
        for batch in loader:
            batch = batch.to(device, non_blocking=True)
            loss = criterion(model(batch.inputs), batch.target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(f'epoch {epoch + 1}  loss {loss.item():.3f}  accuracy {accuracy(model, device):.3f}')
    return accuracy(model, device)


@torch.no_grad()
def accuracy(model: nn.Module, device: torch.device) -> float:
    """Return the share of test images that are recognised; test images are not mixed."""
    images, labels = digits('test').tensors
    return (model.eval()(images.to(device)).argmax(1).cpu() == labels).float().mean().item()


if __name__ == '__main__':
    main(*map(int, sys.argv[1:]))
