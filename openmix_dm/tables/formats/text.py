"""A collected table as Markdown or LaTeX."""

from openmix_dm.tables.formats.grid import Entry, facts, make_grid
from openmix_dm.tables.results import Results


def to_markdown(results: Results) -> str:
    """Return a Markdown table with its notes."""
    grid = make_grid(results)
    lines = [f'**{results.table.title}**', '', _row(grid.head), _row(['---', *['--:'] * (len(grid.head) - 1)])]
    for row in (*grid.rows, *([grid.closing] if grid.closing else [])):
        lines.append(_row([_markdown(entry) for entry in row]))
    notes = [f'<sup>{letter}</sup> {text}  ' for text, letter in grid.notes.items()]
    return '\n'.join([*lines, '', *notes, *([''] if notes else []), *facts(results)]) + '\n'


def _row(texts: list[str]) -> str:
    return f'| {" | ".join(text.replace("|", "&#124;") for text in texts)} |'


def _markdown(entry: Entry) -> str:
    marks = f'<sup>{entry.marks}</sup>' if entry.marks else ''
    return ' '.join(part for part in (entry.main, entry.extra) if part) + marks


def to_latex(results: Results) -> str:
    """Return a LaTeX table (booktabs) with its notes in the caption's place below."""
    grid = make_grid(results)
    lines = [
        '\\begin{table}',
        '  \\centering',
        f'  \\caption{{{escape(results.table.title)}}}',
        f'  \\begin{{tabular}}{{l{"r" * (len(grid.head) - 1)}}}',
        '    \\toprule',
        _latex_row([escape(text) for text in grid.head]),
        '    \\midrule',
        *(_latex_row([_latex(entry) for entry in row]) for row in grid.rows),
    ]
    if grid.closing:
        lines += ['    \\midrule', _latex_row([_latex(entry) for entry in grid.closing])]
    lines += ['    \\bottomrule', '  \\end{tabular}']
    lines += [f'  \\\\ {{\\footnotesize $^{{{letter}}}$ {escape(text)}}}' for text, letter in grid.notes.items()]
    lines += [f'  \\\\ {{\\footnotesize {escape(text)}}}' for text in facts(results)]
    return '\n'.join([*lines, '\\end{table}']) + '\n'


def _latex_row(texts: list[str]) -> str:
    return f'    {" & ".join(texts)} \\\\'


def _latex(entry: Entry) -> str:
    marks = f'$^{{{entry.marks}}}$' if entry.marks else ''
    extra = f' {{\\scriptsize {escape(entry.extra)}}}' if entry.extra else ''
    return f'{escape(entry.main)}{marks}{extra}'


def escape(text: str) -> str:
    """Return a text as LaTeX takes it."""
    signs = {'\\': r'\textbackslash{}', '~': r'\textasciitilde{}', '^': r'\textasciicircum{}', '±': r'$\pm$'}
    signs |= {sign: f'\\{sign}' for sign in '&%$#_{}'}
    return ''.join(signs.get(sign, sign) for sign in text)
