"""What is recorded of every step. The only place that is given the true labels of unlabelled images."""

from torch import Tensor

from openmix_dm.semi.structures import Guess


def watch(guess: Guess | None, truth: Tensor | None) -> dict[str, Tensor]:
    """Return how many guesses are trusted and how many are right, of all and of the trusted, in percent.

    A name `part/whole` is recorded as the mean of the part over the mean of the whole.
    """
    if guess is None:
        return {}
    logs = {'mask': guess.mask.mean(), **guess.logs}
    if truth is not None:
        right = (guess.hard == truth).float()
        logs['pseudo_top1'] = 100 * right.mean()
        logs['pseudo_top1_kept/mask'] = 100 * (right * guess.mask).mean()
    return logs
