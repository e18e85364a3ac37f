"""Run folders with made-up records."""

import json


def write_run(folder, seed, top1, hours=0.5, memory=100.0, **summary):
    folder.mkdir(parents=True)
    lines = []
    for epoch, value in enumerate(top1, start=1):
        lines.append({'kind': 'train', 'iter': epoch * 5 - 2, 'epoch': epoch, 'loss': 9.0})
        lines.append({'kind': 'train', 'iter': epoch * 5, 'epoch': epoch, 'loss': 1 / epoch})
        lines.append({'kind': 'val', 'iter': epoch * 5, 'epoch': epoch, 'top1': value, 'loss': 2 / epoch})
    (folder / 'metrics.jsonl').write_text(''.join(json.dumps(line) + '\n' for line in lines))
    final = {'median_last10': sorted(top1)[len(top1) // 2], 'best': max(top1), 'last': top1[-1]}
    record = {'seed': seed, 'state': 'done', 'hours': hours, 'peak_memory_mb': memory, 'final': final}
    (folder / 'run.json').write_text(json.dumps({**record, **summary}))
    return folder
