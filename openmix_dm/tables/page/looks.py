"""The looks of the page: light, dark, on a phone and on paper."""

# light, dark; words on their grounds have a contrast of 4.5 or more, lines of charts of 3 (a test computes it)
COLOURS = {
    '--ground': ('#ffffff', '#0d1117'),
    '--wash': ('#f6f8fa', '#161b22'),
    '--ink': ('#1f2328', '#e6edf3'),
    '--soft': ('#59636e', '#9aa4af'),
    '--line': ('#d9dee3', '#30363d'),
    '--accent': ('#2563a8', '#79b8ff'),
    '--up': ('#1a7f4b', '#4cc38a'),
    '--down': ('#b3361e', '#ff8b73'),
    '--done': ('#0072b2', '#4da3d9'),
    '--running': ('#009e73', '#2bc79a'),
    '--failed': ('#d55e00', '#f08a4b'),
    '--stopped': ('#cc79a7', '#dd9bc0'),
    '--missing': ('#8b949e', '#6e7681'),
    '--series-0': ('#0072b2', '#4da3d9'),
    '--series-1': ('#d55e00', '#f08a4b'),
    '--series-2': ('#009e73', '#2bc79a'),
    '--series-3': ('#cc79a7', '#dd9bc0'),
    '--series-4': ('#56b4e9', '#8fd0f5'),
    '--series-5': ('#e69f00', '#f5bd45'),
    '--series-6': ('#000000', '#e6edf3'),
    '--series-7': ('#7f7f7f', '#a5a5a5'),
}


def _variables(place: int) -> str:
    return ' '.join(f'{name}: {colours[place]};' for name, colours in COLOURS.items())


STYLE = (
    f"""
:root {{ color-scheme: light dark; {_variables(0)} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables(1)} }} }}
"""
    + """
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1320px; padding: 2rem 1.5rem 4rem; color: var(--ink); background: var(--ground);
       font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.1rem; margin: 2.4rem 0 .8rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
p { margin: .3rem 0; }
.note, .facts { color: var(--soft); font-size: .88rem; }
.wide { overflow-x: auto; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(250px, 100%), 1fr)); gap: 1rem;
         margin: 1.2rem 0; }
.card { background: var(--wash); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; }
.card h2 { margin: 0; padding: 0; border: none; font-size: .85rem; font-weight: 600; color: var(--soft); }
.card p { font-size: .88rem; font-variant-numeric: tabular-nums; }
.card .big { font-size: 1.7rem; font-weight: 600; line-height: 1.3; margin: 0; }
.card .big small { font-size: .9rem; font-weight: 400; color: var(--soft); }
.bar { display: flex; gap: 2px; height: .6rem; margin: .5rem 0; }
.bar i { flex: 1 0 3px; border-radius: 2px; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem .9rem; margin: 0; padding: 0;
          font-size: .82rem; }
.legend i { display: inline-block; width: .65rem; height: .65rem; border-radius: 2px; margin-right: .35rem; }
i.done { background: var(--done); } i.running { background: var(--running); } i.failed { background: var(--failed); }
i.stopped { background: var(--stopped); } i.missing { background: var(--missing); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
table.main { margin-top: 1rem; }
caption { text-align: left; color: var(--soft); font-size: .88rem; padding: .2rem 0; }
th, td { padding: .42rem .8rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid var(--ink); font-weight: 600; vertical-align: bottom; }
thead button { all: unset; cursor: pointer; }
thead button:focus-visible, .wide:focus-visible, pre:focus-visible { outline: 2px solid var(--accent);
          outline-offset: 2px; }
th[aria-sort] button::after { content: ' \\2195'; color: var(--soft); font-weight: 400; opacity: .6; }
th[aria-sort=ascending] button::after { content: ' \\2191'; color: var(--accent); opacity: 1; }
th[aria-sort=descending] button::after { content: ' \\2193'; color: var(--accent); opacity: 1; }
table.main th:first-child, table.main td:first-child { position: sticky; left: 0; background: var(--ground); }
tbody tr { border-bottom: 1px solid var(--line); }
table.main tbody tr:hover, table.main tbody tr:hover th { background: var(--wash); }
tfoot td, tfoot th { border-top: 2px solid var(--ink); font-weight: 600; }
th.name { font-weight: 600; }
td.paper, th.paper { color: var(--soft); }
td .extra { color: var(--soft); font-size: .86em; font-weight: 400; margin-left: .35em; }
td.better { color: var(--up); } td.worse { color: var(--down); }
sup { color: var(--down); font-size: .7em; margin-left: .15em; }
a { color: inherit; text-decoration: none; border-bottom: 1px dotted var(--soft); }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(360px, 100%), 1fr)); gap: 1rem; }
.charts svg { width: 100%; height: auto; border: 1px solid var(--line); border-radius: 6px; }
.charts svg text { fill: var(--ink); }
.charts.dots { grid-template-columns: repeat(auto-fill, minmax(min(480px, 100%), 1fr)); }
.charts.one { max-width: 720px; grid-template-columns: 1fr; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .5rem .9rem; }
summary { cursor: pointer; }
summary code { color: var(--soft); margin-left: .8rem; font-size: .82rem; overflow-wrap: anywhere; }
summary .mean { float: right; font-variant-numeric: tabular-nums; font-weight: 600; }
details.config { border: none; padding: .3rem 0; }
pre { background: var(--wash); padding: .8rem; overflow-x: auto; font-size: .8rem; border-radius: 6px; }
.samples { display: flex; flex-wrap: wrap; gap: .8rem; margin: .8rem 0; }
figure { margin: 0; }
figure img { width: 96px; height: 96px; image-rendering: pixelated; border-radius: 4px; display: block;
             object-fit: contain; background: var(--wash); }
figcaption { font-size: .75rem; color: var(--soft); white-space: pre-line; line-height: 1.3; margin-top: .25rem; }
table.cost { font-size: .84rem; margin: .6rem 0; }
table.cost th, table.cost td { padding: .25rem .7rem; }
table.cost thead th { border-bottom: 1px solid var(--line); color: var(--soft); font-weight: 500; }
@media (max-width: 600px) { body { padding: 1rem .8rem 3rem; } th, td { padding: .35rem .5rem; } }
.on-paper { display: none; }
@media print { .on-screen { display: none; } .on-paper { display: block; } table { break-inside: avoid; }
  th, td { padding: .2rem .4rem; } thead th { white-space: normal; } .on-paper .wide + .wide caption { display: none; }
  body { max-width: none; padding: 0; font-size: 11px; } .wide { overflow: visible; }
  details, .card, .charts svg, tr { break-inside: avoid; } details.config, thead button::after { display: none; }
  h2, h2 + .note { break-after: avoid; } .card, .bar i, .legend i { print-color-adjust: exact; } }
"""
)
