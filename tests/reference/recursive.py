"""RecursiveMix by loops over images, pixels and classes, in Python's own floats."""

import math


def paste(image, old, box):
    """Return an image (C, H, W) with all of another one, of any size, inside of a box: each pixel by the nearest."""
    top, bottom, left, right = box
    result = [[list(row) for row in channel] for channel in image]
    for channel, values in enumerate(old):
        for y in range(top, bottom):
            for x in range(left, right):
                row = math.floor((y - top + 0.5) * len(values) / (bottom - top))
                column = math.floor((x - left + 0.5) * len(values[0]) / (right - left))
                result[channel][y][x] = values[row][column]
    return result


def roi_align(places, top, bottom, left, right):
    """Return the mean of a map (h, w) over the points of a box, in places of the map, with half-pixel centres."""
    height, width = len(places), len(places[0])
    down, across = max(1, math.ceil(bottom - top)), max(1, math.ceil(right - left))
    total = 0.0
    for i in range(down):
        for j in range(across):
            y = top - 0.5 + (i + 0.5) * (bottom - top) / down
            x = left - 0.5 + (j + 0.5) * (right - left) / across
            total += bilinear(places, min(max(y, 0), height - 1), min(max(x, 0), width - 1))
    return total / (down * across)


def bilinear(places, y, x):
    above, before = int(y), int(x)
    below, after = min(above + 1, len(places) - 1), min(before + 1, len(places[0]) - 1)
    upper = places[above][before] * (1 - x + before) + places[above][after] * (x - before)
    lower = places[below][before] * (1 - x + before) + places[below][after] * (x - before)
    return upper * (1 - y + above) + lower * (y - above)


def soft_ce(logits, targets):
    """Return the cross-entropy of one sample with a row of targets."""
    largest = max(logits)
    log_sum = largest + math.log(sum(math.exp(each - largest) for each in logits))
    return -sum(target * (each - log_sum) for each, target in zip(logits, targets, strict=True))


def softmax(logits):
    largest = max(logits)
    parts = [math.exp(each - largest) for each in logits]
    return [part / sum(parts) for part in parts]
