"""A collected table as Markdown or LaTeX."""

from openmix_dm.tables.formats.evidence import evidence_facts, evidence_grid
from openmix_dm.tables.formats.grid import Entry, Grid, facts, make_grid
from openmix_dm.tables.results import Results


def to_markdown(results: Results) -> str:
    """Return a Markdown table with its notes."""
    grid = make_grid(results)
    notes = [f'<sup>{letter}</sup> {text}  ' for text, letter in grid.notes.items()]
    lines = [f'**{results.table.title}**', '', *_markdown_lines(grid), '', *notes, *([''] if notes else [])]
    return '\n'.join([*lines, *facts(results)]) + '\n'


def tests_to_markdown(results: Results) -> str:
    """Return the tests of the gains as a Markdown table."""
    return '\n'.join(['', *_markdown_lines(evidence_grid(results)), '', *evidence_facts(results)]) + '\n'


def _markdown_lines(grid: Grid) -> list[str]:
    rows = (*grid.rows, *([grid.closing] if grid.closing else []))
    body = [_row([_markdown(entry) for entry in row]) for row in rows]
    return [_row(grid.head), _row(['---', *['--:'] * (len(grid.head) - 1)]), *body]


def _row(texts: list[str]) -> str:
    return f'| {" | ".join(text.replace("|", "&#124;") for text in texts)} |'


def _markdown(entry: Entry) -> str:
    marks = f'<sup>{entry.marks}</sup>' if entry.marks else ''
    return ' '.join(part for part in (entry.main, entry.extra) if part) + marks


def to_latex(results: Results) -> str:
    """Return a LaTeX table (booktabs) with its notes in the caption's place below."""
    return _latex_table(results.table.title, make_grid(results), facts(results))


def tests_to_latex(results: Results) -> str:
    """Return the tests of the gains as a LaTeX table."""
    title = f'{results.table.title}: tests of the gains'
    return '\n' + _latex_table(title, evidence_grid(results), evidence_facts(results))


def _latex_table(title: str, grid: Grid, below: list[str]) -> str:
    lines = [
        '\\begin{table}',
        '  \\centering',
        f'  \\caption{{{escape(title)}}}',
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
    lines += [f'  \\\\ {{\\footnotesize {escape(text)}}}' for text in below]
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
