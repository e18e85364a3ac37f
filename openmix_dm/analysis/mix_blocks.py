"""The mix block of a named run: it draws the masks of a learned mixer for all models of a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from openmix_dm.analysis.models import ModelSelection, NamedModel, full_name, load_models
from openmix_dm.errors import CheckpointError, ConfigError
from openmix_dm.evaluation.pixels import normalise
from openmix_dm.mixers import Mixer
from openmix_dm.structures import MixedPair

FLAG = '--mix-block'


@dataclass(frozen=True)
class NamedBlock:
    """A learned mixer inside the trained model that it has learned with."""

    owner: NamedModel
    mixer: Mixer

    def pair(self, x_a: Tensor, x_b: Tensor, lam: Tensor) -> MixedPair:
        """Mix pixels in [0, 1] by masks that are made of them as the owner sees them; lam is the one asked for."""
        seen_a, seen_b = (normalise(self.owner.network, images) for images in (x_a, x_b))
        pair = self.mixer.pair(seen_a, seen_b, lam)
        if pair.mask is None:
            raise ConfigError(f'{type(self.mixer).__name__} makes no masks of pixels that others could be shown')
        return replace(pair, inputs=pair.mask * x_a + (1 - pair.mask) * x_b)


def load_blocks(places: Sequence[str], learned: Sequence[str], selection: ModelSelection) -> dict[str, NamedBlock]:
    """Return for each learned mixer the block that mixes for it.

    Args:
        places: run folders or checkpoints with a mix block, or a config followed by a checkpoint.
        learned: names of the mixers that need one.
        selection: the models that are compared; their overrides and packages hold for the owners, too.
    """
    if learned and not places:
        raise ConfigError(
            f'{" and ".join(learned)}: masks are learned along with a model; name the run whose mix block mixes for '
            f'all models, {FLAG} RUN'
        )
    if places and not learned:
        raise ConfigError(f'{FLAG} {" ".join(places)} has nothing to do: none of --mixers learns its masks')
    owners = replace(selection, runs=places, names=None, limit=None, ema=False)
    blocks: dict[str, NamedBlock] = {}
    for owner in load_models(owners, least=0):
        block = _block_of(owner, learned)
        name = type(block.mixer).__name__
        if name in blocks:
            raise ConfigError(
                f'{FLAG} names two runs of {name}, {blocks[name].owner.name} and {block.owner.name}; name one'
            )
        blocks[name] = block
    if left := [name for name in learned if name not in blocks]:
        raise ConfigError(f'{FLAG} names no run of {", ".join(left)}, but of {", ".join(blocks)}')
    return blocks


def check_block(block: NamedBlock, model: NamedModel) -> None:
    """Refuse a block of another data set, or of images of another size, than those that it would mix."""
    own, other = block.owner.data.config, model.data.config
    unlike = [key for key in dict.fromkeys((*own, *other)) if own.get(key) != other.get(key)]
    if unlike:
        theirs, ours = ({key: config.get(key) for key in unlike} for config in (own, other))
        raise ConfigError(
            f'{FLAG} {block.owner.name} is of other data or transforms than those that {model.name} is tested on: '
            f'{theirs} and {ours}; name a run of the same ones'
        )


def _block_of(owner: NamedModel, learned: Sequence[str]) -> NamedBlock:
    """Find a learned mixer in a model, alone or in a mixture, with the weights that it was saved with."""
    mixers = {name: part for name, part in owner.network.named_modules() if isinstance(part, Mixer)}
    found = {name: mixer for name, mixer in mixers.items() if type(mixer).__name__ in learned}
    if not found:
        kinds = ', '.join(dict.fromkeys(type(mixer).__name__ for mixer in mixers.values())) or 'none'
        raise ConfigError(f'{FLAG} {owner.trained.checkpoint}: its mixer is {kinds}, not {" or ".join(learned)}')
    name, mixer = next(iter(found.items()))
    if any(key.startswith(f'{name}.') for key in owner.trained.missing):
        raise CheckpointError(
            f'{FLAG} {owner.trained.checkpoint} has no weights of the mix block (published ones never have); name '
            'the folder of a run itself, or a checkpoint in it'
        )
    return NamedBlock(replace(owner, name=full_name(owner.trained)), mixer)
