"""Labels from attention and the masks of TokenMix, token by token."""

import math


def cell(index, cells, size):
    """The positions that a cell of a grid averages over, as torch's area pooling defines them."""
    return range(index * size // cells, math.ceil((index + 1) * size / cells))


def pool(values, rows, columns):
    """Average nested lists over the cells of a grid."""
    height, width = len(values), len(values[0])
    pooled = []
    for r in range(rows):
        pooled.append([])
        for c in range(columns):
            inside = [values[y][x] for y in cell(r, rows, height) for x in cell(c, columns, width)]
            pooled[-1].append(sum(inside) / len(inside))
    return pooled


def transmix_lam(mask, attention, ratio):
    """Weigh the share of the own pixels and the share of attention on them."""
    rows, columns = len(attention), len(attention[0])
    own, on_own, total = pool(mask, rows, columns), 0.0, 0.0
    for r in range(rows):
        for c in range(columns):
            on_own += own[r][c] * attention[r][c]
            total += attention[r][c]
    area = sum(map(sum, mask)) / (len(mask) * len(mask[0]))
    return (1 - ratio) * area + ratio * on_own / total


def tokenmix_lam(own, attention_a, attention_b):
    """Score each image where it is shown, out of its attention everywhere."""
    rows, columns = len(own), len(own[0])
    a, b = pool(attention_a, rows, columns), pool(attention_b, rows, columns)
    score_a = sum(a[r][c] for r in range(rows) for c in range(columns) if own[r][c]) / sum(map(sum, a))
    score_b = sum(b[r][c] for r in range(rows) for c in range(columns) if not own[r][c]) / sum(map(sum, b))
    return score_a / (score_a + score_b)


def tokenmix(inputs, index, own, patch_size):
    """Copy pixel by pixel from the own image or the partner, as the token of the pixel says."""
    mixed = inputs.clone()
    for i in range(len(inputs)):
        for y in range(inputs.shape[2]):
            for x in range(inputs.shape[3]):
                source = i if own[i][y // patch_size][x // patch_size] else index[i]
                mixed[i, :, y, x] = inputs[source, :, y, x]
    return mixed


def take_tokens(count, order, blocks, rows, columns, minimum):
    """Take blocks, then single tokens, until `count` of them are taken; return their (row, column)."""
    taken = set()
    ranked = sorted(range(rows * columns), key=lambda token: -order[token])
    for area, aspect, place_y, place_x in blocks:
        free = [token for token in ranked if divmod(token, columns) not in taken]
        left = count - len(taken)
        if not left:
            break
        area = min(minimum, left) + area * (left - min(minimum, left))
        aspect = (1 / 0.3) ** (2 * aspect - 1)
        height = min(max(round(math.sqrt(area * aspect)), 1), rows)
        width = min(max(round(math.sqrt(area / aspect)), 1), columns)
        row, column = divmod(free[0], columns)
        top = min(max(row - int(place_y * height), 0), rows - height)
        start = min(max(column - int(place_x * width), 0), columns - width)
        for y in range(top, top + height):
            for x in range(start, start + width):
                if len(taken) < count:
                    taken.add((y, x))
    for token in ranked:
        if len(taken) < count:
            taken.add(divmod(token, columns))
    return taken


def class_attention(vit, images):
    """Follow timm's ViT by hand up to its last block and return where the class token looks, (N, h, w)."""
    tokens = vit.norm_pre(vit._pos_embed(vit.patch_embed(images)))
    for block in vit.blocks[:-1]:
        tokens = block(tokens)
    last = vit.blocks[-1].attn
    qkv = last.qkv(vit.blocks[-1].norm1(tokens))
    queries, keys, _ = qkv.unflatten(2, (3, last.num_heads, -1)).permute(2, 0, 3, 1, 4)
    weights = (queries @ keys.transpose(2, 3) / math.sqrt(keys.shape[-1])).softmax(dim=-1)
    return weights[:, :, 0, 1:].mean(dim=1).unflatten(1, vit.patch_embed.grid_size).detach()


def mixed_ce(logits, y_a, y_b, lam):
    """Weigh the two losses of each sample by its own lam; reduce last."""
    nll = -logits.log_softmax(dim=1)
    each = [lam[i] * nll[i, y_a[i]] + (1 - lam[i]) * nll[i, y_b[i]] for i in range(len(lam))]
    return sum(each) / len(each)
