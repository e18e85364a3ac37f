"""AutoMix and SAMix as loops over samples and places; slow, obvious, and written without the package."""

import math

import torch


def conv1x1(features, weight, bias):
    """(C, h, w) -> (D, h, w), place by place."""
    channels, height, width = features.shape
    out = torch.zeros(len(weight), height, width, dtype=features.dtype)
    for y in range(height):
        for x in range(width):
            for d in range(len(weight)):
                total = 0.0 if bias is None else bias[d].item()
                for c in range(channels):
                    total += weight[d, c, 0, 0].item() * features[c, y, x].item()
                out[d, y, x] = total
    return out


def attention(query, key, value):
    """(D, h, w), (D, h, w), (1, h, w) -> (h, w): softmax over the places of the key, for each place of the query."""
    depth, height, width = query.shape
    places = [(y, x) for y in range(height) for x in range(width)]
    out = torch.zeros(height, width, dtype=query.dtype)
    for y, x in places:
        scores = [
            sum((query[d, y, x] * key[d, v, u]).item() for d in range(depth)) / math.sqrt(depth) for v, u in places
        ]
        exps = [math.exp(score - max(scores)) for score in scores]
        out[y, x] = sum(e * value[0, v, u].item() for e, (v, u) in zip(exps, places, strict=True)) / sum(exps)
    return out


def automix_block(block, own, other, lam):
    """One sample: lam as a channel of the own features, 1 - lam of the partner's; one embedding for both."""
    plane = torch.ones_like(own[:1])
    own, other = torch.cat((own, lam * plane)), torch.cat((other, (1 - lam) * plane))
    query = conv1x1(own, block.embed.weight, block.embed.bias)
    key = conv1x1(other, block.embed.weight, block.embed.bias)
    return attention(query, key, conv1x1(other, block.value.weight, block.value.bias))


def samix_block(block, own, other, lam, gain):
    """One sample, in eval mode: lam as a gain, both images in queries and keys, values by two layers."""
    if gain is not None:
        lam = (4 * lam**3 / 3 - 2 * lam**2 + (gain + 1) * lam) / (gain + 1 / 3)
    own, other = own * (1 + lam), other * (1 + (1 - lam))
    both = torch.cat((own, other))
    first, norm, _, _, last = block.value
    hidden = conv1x1(other, first.weight, first.bias)
    for d in range(len(hidden)):
        scale = norm.weight[d].item() / math.sqrt(float(norm.running_var[d]) + norm.eps)
        hidden[d] = (hidden[d] - float(norm.running_mean[d])) * scale + norm.bias[d].item()
    hidden = torch.where(hidden > 0, hidden, hidden.exp() - 1)
    value = conv1x1(hidden, last.weight, last.bias)
    query, key = (conv1x1(both, layer.weight, layer.bias) for layer in (block.query, block.key))
    return attention(query, key, value)


def mask_loss(partners_mask, lam, variance=False):
    """The released definition, on the weights of the partner and one lam for the batch."""
    values = partners_mask.flatten().tolist()
    mean = sum(values) / len(values)
    loss = max(abs(1 - mean - lam) - 0.1, 0)
    if variance:
        loss -= 2 * sum((value - mean) ** 2 for value in values) / len(values)
    return loss


def momentum_at(step, steps, base, end):
    return end - (end - base) * (math.cos(math.pi * step / steps) + 1) / 2
