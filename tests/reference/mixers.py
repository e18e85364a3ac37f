"""Slow and obvious versions of the mixers: loops over samples and pixels."""

import math

import torch


def mixup(inputs, index, lam):
    mixed = torch.empty_like(inputs)
    for i in range(len(inputs)):
        mixed[i] = lam[i] * inputs[i] + (1 - lam[i]) * inputs[index[i]]
    return mixed


def cutmix(inputs, index, lam, centres):
    """Paste boxes around the given centres; return the images and the share of own pixels."""
    mixed, shown = inputs.clone(), torch.empty(len(inputs))
    height, width = inputs.shape[-2:]
    for i, (centre_y, centre_x) in enumerate(centres):
        side = math.sqrt(1 - lam[i])
        half_height, half_width = int(height * side) // 2, int(width * side) // 2
        own = 0
        for y in range(height):
            for x in range(width):
                pasted = -half_height <= y - centre_y < half_height and -half_width <= x - centre_x < half_width
                own += not pasted
                if pasted:
                    mixed[i, :, y, x] = inputs[index[i], :, y, x]
        shown[i] = own / (height * width)
    return mixed, shown


def resizemix(inputs, index, boxes):
    """Paste whole partners, resized by nearest centres, into the boxes (top, bottom, left, right) of each sample."""
    mixed = inputs.clone()
    height, width = inputs.shape[-2:]
    for i, (top, bottom, left, right) in enumerate(boxes):
        for y in range(top, bottom):
            for x in range(left, right):
                source_y = int((y - top + 0.5) * height / (bottom - top))
                source_x = int((x - left + 0.5) * width / (right - left))
                mixed[i, :, y, x] = inputs[index[i], :, source_y, source_x]
    return mixed


def attentive_mask(scores, count, height, width):
    """Mark the cells with the highest scores, then enlarge cell by cell."""
    rows, columns = len(scores), len(scores[0])
    order = sorted((-scores[r][c], r, c) for r in range(rows) for c in range(columns))
    chosen = {(r, c) for _, r, c in order[:count]}
    return torch.tensor(
        [[float((y * rows // height, x * columns // width) in chosen) for x in range(width)] for y in range(height)]
    )
