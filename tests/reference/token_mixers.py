"""SMMix and MixPro by loops over images, windows, patches and classes, in Python's own floats."""

import math


def window_sum(attention, top, left, side):
    return sum(attention[y][x] for y in range(top, top + side) for x in range(left, left + side))


def choose_window(attention, side, best):
    """Return the first (row, column) of the window whose sum is the `best` (min or max); ties: in reading order."""
    places = [(top, left) for top in range(len(attention) - side + 1) for left in range(len(attention[0]) - side + 1)]
    sums = {place: window_sum(attention, *place, side) for place in places}
    wanted = best(sums.values())
    return next(place for place in places if sums[place] == wanted)


def smmix(image, other, attention, other_attention, side):
    """Return an image (C, H, W) with a window of another one, and where it was put: (row, column), in patches."""
    rows, columns = len(attention), len(attention[0])
    down, across = len(image[0]) // rows, len(image[0][0]) // columns
    top, left = choose_window(attention, side, min)
    from_top, from_left = choose_window(other_attention, side, max)
    mixed = [[list(row) for row in channel] for channel in image]
    for channel, values in enumerate(other):
        for y in range(side * down):
            for x in range(side * across):
                mixed[channel][top * down + y][left * across + x] = values[from_top * down + y][from_left * across + x]
    return mixed, (top, left)


def mean_token(tokens, chosen):
    """Return the mean of the chosen ones of tokens (P, C)."""
    return [sum(tokens[p][c] for p in chosen) / len(chosen) for c in range(len(tokens[0]))]


def in_window(window, side, rows, columns):
    """Return the numbers of the patches inside of a window, and of those outside."""
    top, left = window
    inside = [y * columns + x for y in range(top, top + side) for x in range(left, left + side)]
    return inside, [p for p in range(rows * columns) if p not in inside]


def log_softmax(logits):
    largest = max(logits)
    total = largest + math.log(sum(math.exp(each - largest) for each in logits))
    return [each - total for each in logits]


def smooth_ce(logits, label, smoothing):
    """Return the cross-entropy of one sample with a smoothed label."""
    said, count = log_softmax(logits), len(logits)
    return -sum(said[k] * ((1 - smoothing) * (k == label) + smoothing / count) for k in range(count))


def divergence(wanted, given):
    """Return KL(softmax(wanted) || softmax(given)) of one sample."""
    wanted, given = log_softmax(wanted), log_softmax(given)
    return sum(math.exp(p) * (p - q) for p, q in zip(wanted, given, strict=True))


def mixpro_lam(mask, attention, logits, y_a, y_b, smoothing):
    """Return lam of one sample: mask (H, W) of the own pixels, attention (h, w) of patches that no cell cuts."""
    height, width, rows, columns = len(mask), len(mask[0]), len(attention), len(attention[0])
    area = sum(map(sum, mask)) / (height * width)
    on_own = sum(
        attention[r][c] for r in range(rows) for c in range(columns) if mask[r * height // rows][c * width // columns]
    )
    count = len(logits)
    label = [smoothing / count] * count
    label[y_a] += (1 - smoothing) * area
    label[y_b] += (1 - smoothing) * (1 - area)
    said = [math.exp(each) for each in log_softmax(logits)]
    product = sum(p * q for p, q in zip(label, said, strict=True))
    sure = product / math.sqrt(sum(p * p for p in label)) / math.sqrt(sum(q * q for q in said))
    return sure * on_own / sum(map(sum, attention)) + (1 - sure) * area
