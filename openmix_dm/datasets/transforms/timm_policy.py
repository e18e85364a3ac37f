"""timm's policy strings of RandAugment, such as 'rand-m9-mstd0.5-inc1'."""

import re
from dataclasses import dataclass

# timm leaves out what it does not understand, or fails without saying where
SECTION = re.compile(r'm\d+|n\d+|p(0(\.\d+)?|1(\.0+)?)|mstd\d+\.?\d*|mmax\d+|inc[01]|t(weights|3a|3aw)')


def check_policy(policy: str) -> str:
    """Return a policy string if all of its sections are known."""
    first, *sections = policy.split('-')
    wrong = [section for section in sections if not SECTION.fullmatch(section)]
    if first != 'rand' or wrong:
        raise ValueError(
            f"policy must be 'rand' and sections such as m9, n2, p0.5, mstd0.5, mmax10, inc1, tweights, joined by '-', "
            f'got {policy!r}' + (f' with {", ".join(map(repr, wrong))}' if wrong else '')
        )
    return policy


@dataclass(frozen=True)
class Policy:
    """What a policy string says."""

    magnitude: float  # in tenths of the range of each operation
    count: int  # of operations for each image
    prob: float  # of each to be applied
    deviation: float  # of the magnitude
    bound: float  # of the magnitude
    increasing: bool  # whether a higher magnitude changes more, whatever the operation


def read_policy(policy: str) -> Policy:
    """Read a policy string that names no set of operations; what it does not say is as in timm."""
    values: dict[str, str] = {}
    for section in check_policy(policy).split('-')[1:]:
        if section.startswith('t'):
            raise ValueError(f'policy takes no {section!r} here: choose by operations=[...], got {policy!r}')
        key, value = re.findall(r'[a-z]+|[\d.]+', section)
        values[key] = value
    return Policy(
        magnitude=float(values.get('m', 10)),
        count=int(values.get('n', 2)),
        prob=float(values.get('p', 0.5)),
        deviation=float(values.get('mstd', 0)),
        bound=float(values.get('mmax', 0)) or 10.0,
        increasing=values.get('inc') == '1',
    )
