"""Show in TensorBoard what the mixer of a run does."""

from typing import Any

import torch
from mmengine.hooks import Hook

from openmix_dm.registry import HOOKS
from openmix_dm.utils.modules import evaluating


@HOOKS.register_module()
class PictureHook(Hook):
    """Send own image, partner, mask and mixed image of a few training samples to TensorBoard every few epochs.

    Rank 0 draws them, from the model as it is at that moment. The run is the same with and without pictures.

    Args:
        every_epochs: epochs between two pictures. Default: 10.
        n: training samples to show, at least 2, spread evenly over the training set: the same images each time.
            Default: 8.

    Example:
        default_hooks = dict(pictures=dict(type='PictureHook', every_epochs=10))
    """

    def __init__(self, every_epochs: int = 10, n: int = 8) -> None:
        if every_epochs < 1 or n < 2:
            raise ValueError(f'every_epochs must be at least 1 and n at least 2, got {every_epochs} and {n}')
        self.every_epochs, self.n = every_epochs, n

    def after_train_epoch(self, runner: Any) -> None:
        """Draw. The numbers that this draws do not touch the run: each iteration is seeded anew."""
        if runner.rank or (runner.epoch + 1) % self.every_epochs:
            return
        from openmix_dm.visualization import mix_panels as browse  # matplotlib takes a while to import

        model = runner.bare_model
        dataset = runner.train_dataloader.dataset
        samples = [dataset[i * len(dataset) // self.n] for i in range(self.n)]
        data = {name: torch.stack([sample[name] for sample in samples]) for name in samples[0]}
        with torch.no_grad(), evaluating(model):  # a mixer's own networks stay as they are
            data = model.data_preprocessor(data)
            batch = model.mixer(data['inputs'], data['labels'], model.probe)
            panels = browse.panels(data['inputs'], batch, model.head.loss_fn, show=model.probe.denormalise)
        picture = browse.to_array(browse.draw(panels, type(model.mixer).__name__))
        runner.visualizer.add_image('mixed samples', picture, step=runner.iter)
