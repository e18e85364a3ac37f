"""Accuracy on mixed images, one image at a time."""


def slow_hits(logits, y_a, y_b):
    top1, top2 = [], []
    for row, a, b in zip(logits.tolist(), y_a.tolist(), y_b.tolist(), strict=True):
        ranked = sorted(range(len(row)), key=lambda c: -row[c])
        top1.append(ranked[0] in (a, b))
        top2.append(a != b and set(ranked[:2]) == {a, b})
    return top1, top2
