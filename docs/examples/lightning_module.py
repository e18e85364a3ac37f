"""A module of Lightning: it mixes in the training step, on the device, and validates with plain labels.

python docs/examples/lightning_module.py [EPOCHS]          (pip install lightning)
"""

import sys

import openmix_dm  # noqa: F401  first: it repairs torchvision beside a CPU build of torch

# isort: split
import lightning
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from openmix_dm.backbones import ThinResNet
from openmix_dm.datasets.digits import Digits
from openmix_dm.losses import DecoupledCE
from openmix_dm.mixers import Mixup


class MixedDigits(lightning.LightningModule):
    """Classify digits; any mixer that needs no network, and any loss of openmix_dm."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        backbone = ThinResNet(depth=8)
        self.model = nn.Sequential(backbone, nn.Linear(backbone.num_features, 10))
        self.mixer, self.criterion = Mixup(alpha=0.2), DecoupledCE(eta=0.1)
        self.steps = steps

    def training_step(self, batch: list[Tensor], number: int) -> Tensor:
        """Mix, and return the loss."""
        mixed = self.mixer(*batch)
        loss = self.criterion(self.model(mixed.inputs), mixed.target)
        self.log('loss', loss, prog_bar=True)
        return loss

    def validation_step(self, batch: list[Tensor], number: int) -> None:
        """Measure images that are not mixed: the loss takes their class numbers as they are."""
        images, labels = batch
        logits = self.model(images)
        self.log('val_loss', self.criterion(logits, labels))
        self.log('accuracy', (logits.argmax(1) == labels).float().mean(), prog_bar=True)

    def configure_optimizers(self) -> dict:
        """Return the optimiser and a schedule that is stepped each iteration."""
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4, nesterov=True)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=self.steps)
        return {'optimizer': optimizer, 'lr_scheduler': {'scheduler': schedule, 'interval': 'step'}}


def digits(split: str) -> DataLoader:
    """Return batches of normalised digits."""
    data, training = Digits(split), split == 'train'
    images = (data.images.float() / 255 - 0.3) / 0.35
    tensors = TensorDataset(images, torch.as_tensor(data.labels))
    return DataLoader(tensors, batch_size=100, shuffle=training, drop_last=training)


def main(epochs: int = 10) -> float:
    """Train, and return the accuracy on the test images."""
    lightning.seed_everything(0, verbose=False)
    loader = digits('train')
    trainer = lightning.Trainer(max_epochs=epochs, logger=False, enable_checkpointing=False, enable_model_summary=False)
    trainer.fit(MixedDigits(steps=epochs * len(loader)), loader, digits('test'))
    return float(trainer.callback_metrics['accuracy'])


if __name__ == '__main__':
    print(f'accuracy {main(*map(int, sys.argv[1:])):.3f}')
