"""Charts that take the colours of the page around them, light or dark."""

import re
from html import escape

from openmix_dm.visualization.style import COLOURS, FAINT, GROUND, INK, SOFT

# the colours of charts -> the variables of the page's style; what a chart alone shows is what follows the comma
VARIABLES = {
    **{colour: f'--series-{number}' for number, colour in enumerate(COLOURS)},
    INK: '--ink',
    SOFT: '--soft',
    FAINT: '--line',
    GROUND: '--ground',
}
COLOUR = re.compile('|'.join(VARIABLES), re.IGNORECASE)


def for_page(svg: str, words: str) -> str:
    """Return a chart whose colours are the page's, with words for those who cannot see it.

    Args:
        svg: as `to_svg` returns it.
        words: what it shows.
    """
    names = {colour.lower(): name for colour, name in VARIABLES.items()}
    styled = re.sub(
        r'style="[^"]*"', lambda style: COLOUR.sub(lambda c: f'var({names[c[0].lower()]}, {c[0]})', style[0]), svg
    )
    return styled.replace('<svg ', f'<svg role="img" aria-label="{escape(words, quote=True)}" ', 1)
