"""The networks that draw masks, by the attention of each place of an image over the places of it or of another."""

import torch
from torch import Tensor, nn


class MixBlock(nn.Module):
    """AutoMix's block: from two feature maps (N, C, h, w) and lam (N,) to how much of the partner each place shows.

    Returns (N, 1, h, w), to be squashed by a sigmoid.

    Args:
        channels: channels of the feature maps.
        lam_channel: append lam to the own features and 1 - lam to the partner's, without which the block cannot know
            it. Default: True.
        init_std: standard deviation of the first weights. Default: 0.01.
    """

    def __init__(self, channels: int, lam_channel: bool = True, init_std: float = 0.01) -> None:
        super().__init__()
        width = channels + lam_channel
        self.lam_channel = lam_channel
        self.embed = nn.Conv2d(width, max(channels // 2, 1), 1)  # of both sides, queries and keys alike
        self.value = nn.Conv2d(width, 1, 1)
        initialise(self, init_std)

    def forward(self, own: Tensor, other: Tensor, lam: Tensor) -> Tensor:
        """Return the partner's weight before the sigmoid."""
        if self.lam_channel:
            own, other = with_channel(own, lam), with_channel(other, 1 - lam)
        return attend(self.embed(own), self.embed(other), self.value(other))


class PairMixBlock(nn.Module):
    """SAMix's block: queries and keys of both images together, lam as a gain, values by two layers.

    Args:
        channels: channels of the feature maps.
        lam_gain: how much lam bends before it scales the features, see `bend`; None takes it as it is. Default: None.
        dropout: probability of dropout of the values' hidden features. Default: 0.0.
        init_std: standard deviation of the first weights. Default: 0.01.
    """

    def __init__(
        self, channels: int, lam_gain: float | None = None, dropout: float = 0.0, init_std: float = 0.01
    ) -> None:
        super().__init__()
        self.lam_gain = lam_gain
        hidden = max(channels // 2, 1)
        self.query = nn.Conv2d(2 * channels, hidden, 1)
        self.key = nn.Conv2d(2 * channels, hidden, 1)
        self.value = nn.Sequential(
            nn.Conv2d(channels, hidden, 1, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ELU(),
            nn.Dropout(dropout),
            nn.Conv2d(hidden, 1, 1),
        )
        initialise(self, init_std)

    def forward(self, own: Tensor, other: Tensor, lam: Tensor) -> Tensor:
        """Return the partner's weight before the sigmoid."""
        lam = lam if self.lam_gain is None else bend(lam, self.lam_gain)
        lam = lam[:, None, None, None]
        own, other = own * (1 + lam), other * (2 - lam)
        both = torch.cat((own, other), dim=1)
        return attend(self.query(both), self.key(both), self.value(other))


class GroupMixBlock(nn.Module):
    """AdAutoMix's block: from the feature maps (N, C, h, w) of several images to a score of each at each place.

    A place of an image looks at its own values, by how much they are like what the other images show. Returns
    (N, images, h, w), of which a softmax over the images makes masks.

    Args:
        channels: channels of the feature maps.
        lam_channel: append its weight to the features of each image. Default: False.
        init_std: standard deviation of the first weights. Default: 0.01.
    """

    def __init__(self, channels: int, lam_channel: bool = False, init_std: float = 0.01) -> None:
        super().__init__()
        self.lam_channel = lam_channel
        width, hidden = channels + lam_channel, max(channels // 2, 1)
        self.query = nn.Conv2d(width, hidden, 1)
        self.key = nn.Conv2d(width, hidden, 1)
        self.value = nn.Conv2d(width, 1, 1)
        initialise(self, init_std)

    def forward(self, maps: list[Tensor], weights: list[Tensor]) -> Tensor:
        """Return the scores of images by their maps and by how much of each is asked for, (N,)."""
        if self.lam_channel:
            maps = [with_channel(each, weight) for each, weight in zip(maps, weights, strict=True)]
        together = torch.cat(maps)  # one after the other: a GPU gets one large piece of work
        keys = self.key(together).relu().unflatten(0, (len(maps), -1))
        others = (keys.sum(dim=0) - keys).flatten(0, 1)
        scores = attend(self.query(together).relu(), others, self.value(together))
        return scores[:, 0].unflatten(0, (len(maps), -1)).transpose(0, 1)


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Return for each place of the query the values of all places, weighed by how their keys fit, (N, 1, h, w)."""
    places = query.flatten(2).mT @ key.flatten(2)
    weights = (places / query.shape[1] ** 0.5).softmax(dim=2)
    return (weights @ value.flatten(2).mT).mT.view_as(value)


def with_channel(features: Tensor, value: Tensor) -> Tensor:
    """Append a channel that is one number for each sample."""
    plane = value.to(features.dtype)[:, None, None, None].expand(-1, 1, *features.shape[2:])
    return torch.cat((features, plane), dim=1)


def bend(lam: Tensor, gain: float) -> Tensor:
    """Return lam, flatter around 1/2 the smaller the gain: 0, 1/2 and 1 stay."""
    k = gain + 1
    return (4 / 3 * lam**3 - 2 * lam**2 + k * lam) / (k - 2 / 3)


def initialise(block: nn.Module, std: float) -> None:
    """Start with small weights: all places alike, and masks of one half, until the steps take them apart."""
    for module in block.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.normal_(module.weight, std=std)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
