"""The nearest right name for a wrong one."""

import difflib
from collections.abc import Iterable

SHORT = 16  # a list of so many names still helps


def nearest(wrong: str, right: Iterable[str]) -> str | None:
    """Return the right name that is nearest to a wrong one, if any is near.

    Case does not count, and of `package/Name` the name alone is enough.
    """
    names = sorted(right)
    by_lower = {name.rpartition('/')[2].lower(): name for name in names} | {name.lower(): name for name in names}
    near = difflib.get_close_matches(wrong.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[near[0]] if near else None


def did_you_mean(wrong: str, right: Iterable[str]) -> str:
    """Return '; did you mean X?', and all names where they are few."""
    names = sorted(right)
    near = nearest(wrong, names)
    hint = f'; did you mean {near}?' if near else ''
    return hint + (f' (known: {", ".join(names)})' if 0 < len(names) <= SHORT else '')
