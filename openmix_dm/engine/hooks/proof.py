"""A line by which two people can tell whether they run the same thing."""

from pathlib import Path
from typing import Any

from mmengine.hooks import Hook

from openmix_dm.mixers import Mixer
from openmix_dm.registry import HOOKS
from openmix_dm.runs.folder import RunFolder
from openmix_dm.structures import tensors_in
from openmix_dm.utils.modules import digest


@HOOKS.register_module()
class ProofHook(Hook):
    """Log hashes of the initial weights, the first batch, the first lam and the config, and put them into run.json.

    Two runs with equal lines have the same config, and began with the same weights, images and lam. A run that goes on
    from a checkpoint logs none.

    Example:
        default_hooks = dict(proof=dict(type='ProofHook'))
    """

    def __init__(self) -> None:
        self._proof: dict[str, str] = {}
        self._handles: list[Any] = []
        self._due = False

    def before_train(self, runner: Any) -> None:
        """Hash the weights that training starts from."""
        if runner.iter == 0:
            self._proof = {'weights': digest(*runner.bare_model.state_dict().values())}
            mixers = [module for module in runner.bare_model.modules() if isinstance(module, Mixer)]
            self._handles = [mixer.register_forward_hook(self._keep_lam) for mixer in mixers[:1]]
            self._due = True

    def after_train_iter(self, runner: Any, batch_idx: int, data_batch: Any = None, outputs: Any = None) -> None:
        """Write the line after the first iteration."""
        if not self._due:
            return
        for handle in self._handles:
            handle.remove()
        self._due = False
        self._proof['batch'] = digest(*tensors_in(data_batch))
        self._proof['config'] = RunFolder(Path(runner.work_dir)).read().get('config_hash', '')
        runner.logger.info('proof: ' + ' '.join(f'{name} {value}' for name, value in self._proof.items()))
        if runner.rank == 0:
            RunFolder(Path(runner.work_dir)).update(proof=self._proof)

    def _keep_lam(self, mixer: Any, args: Any, batch: Any) -> None:
        self._proof['lam'] = digest(batch.target.lam)
