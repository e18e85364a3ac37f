"""How findings about a data set are told."""


def several(problem: str, names: list[str], shown: int = 10) -> list[str]:
    """Return one line for all that have the same problem, if any."""
    more = f' and {len(names) - shown:,} more' if len(names) > shown else ''
    return [f'{problem}: {", ".join(names[:shown])}{more}'] if names else []
