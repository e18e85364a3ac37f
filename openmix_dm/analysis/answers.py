"""The answers of trained models to all their test images."""

import numpy as np
import torch

from openmix_dm.analysis.progress import track
from openmix_dm.analysis.subjects import Subject
from openmix_dm.evaluation.pixels import logits_of
from openmix_dm.evaluation.predictions import Answers


def answer_all(subject: Subject, limit: int | None = None) -> Answers:
    """Ask a model for the best class of its test images."""
    batches, total = subject.batches(limit, crops=True)
    best, true = [], []
    for _, shown, labels in track(batches, total, f'test {subject.name}'):
        with torch.no_grad():
            best.append(logits_of(subject.model, shown).argmax(dim=1).cpu().numpy())
        true.append(labels.cpu().numpy())
    return Answers(np.concatenate(best), np.concatenate(true))
