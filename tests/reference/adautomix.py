"""AdAutoMix as loops over samples, images and places; slow, obvious, and written without the package."""

import math

import torch
from reference.automix import conv1x1


def scores(block, maps, weights):
    """One sample: `maps` and `weights` of its images -> scores (images, h, w)."""
    if block.lam_channel:
        maps = [
            torch.cat((each, weight * torch.ones_like(each[:1]))) for each, weight in zip(maps, weights, strict=True)
        ]
    queries = [conv1x1(each, block.query.weight, block.query.bias).clamp(min=0) for each in maps]
    keys = [conv1x1(each, block.key.weight, block.key.bias).clamp(min=0) for each in maps]
    values = [conv1x1(each, block.value.weight, block.value.bias) for each in maps]
    depth, height, width = queries[0].shape
    places = [(y, x) for y in range(height) for x in range(width)]
    out = torch.zeros(len(maps), height, width, dtype=maps[0].dtype)
    for i in range(len(maps)):
        for y, x in places:
            fits = []
            for v, u in places:
                fit = 0.0
                for j in range(len(maps)):
                    if j != i:
                        fit += sum((queries[i][d, y, x] * keys[j][d, v, u]).item() for d in range(depth))
                fits.append(fit / math.sqrt(depth))
            exps = [math.exp(fit - max(fits)) for fit in fits]
            total = sum(e * values[i][0, v, u].item() for e, (v, u) in zip(exps, places, strict=True))
            out[i, y, x] = total / sum(exps)
    return out


def masks(found, size, mode):
    """One sample: scores (images, h, w) -> masks (images, H, W): first enlarged, then a softmax over the images."""
    large = torch.nn.functional.interpolate(found[None], size, mode=mode)[0]
    out = torch.zeros_like(large)
    for y in range(size[0]):
        for x in range(size[1]):
            exps = [math.exp(large[i, y, x]) for i in range(len(large))]
            for i in range(len(large)):
                out[i, y, x] = exps[i] / sum(exps)
    return out


def mixed(images, by):
    """One sample: images (C, H, W) by their masks (images, H, W)."""
    out = torch.zeros_like(images[0])
    for image, mask in zip(images, by, strict=True):
        out += image * mask
    return out


def cross_entropy(logits, classes, weights):
    """Rows of logits with the classes and the weights of the images of each: the mean over rows."""
    total = 0.0
    for row, of_row, by in zip(logits.tolist(), classes, weights, strict=True):
        norm = math.log(sum(math.exp(z) for z in row))
        total += sum(weight * (norm - row[label]) for label, weight in zip(of_row, by, strict=True))
    return total / len(logits)


def likeness(logits, clean, weights):
    """Rows of logits, the clean logits of the images of each row, their weights: the mean over rows of cosines."""
    total = 0.0
    for row, of_row, by in zip(logits.tolist(), clean, weights, strict=True):
        for other, weight in zip(of_row, by, strict=True):
            dot = sum(a * b for a, b in zip(row, other, strict=True))
            total += weight * dot / math.hypot(*row) / math.hypot(*other)
    return total / len(logits)
