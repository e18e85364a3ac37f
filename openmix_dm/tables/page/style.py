"""The looks of the page."""

STYLE = """
:root { --ink: #1f2328; --soft: #59636e; --line: #d9dee3; --wash: #f6f8fa; --accent: #2563a8; --up: #1a7f4b;
        --down: #b3361e; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1320px; padding: 2rem 1.5rem 4rem; color: var(--ink); background: #fff;
       font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.1rem; margin: 2.4rem 0 .8rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
p { margin: .3rem 0; }
.note, .facts { color: var(--soft); font-size: .88rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
table.main { margin-top: 1rem; }
th, td { padding: .42rem .8rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid var(--ink); font-weight: 600; vertical-align: bottom; }
table.main th:first-child, table.main td:first-child { position: sticky; left: 0; background: #fff; }
tbody tr { border-bottom: 1px solid var(--line); }
table.main tbody tr:hover { background: var(--wash); }
tfoot td { border-top: 2px solid var(--ink); font-weight: 600; }
td.name { font-weight: 600; }
td.paper, th.paper { color: var(--soft); }
td .extra { color: var(--soft); font-size: .86em; font-weight: 400; margin-left: .35em; }
td.better { color: var(--up); } td.worse { color: var(--down); }
sup { color: var(--down); font-size: .7em; margin-left: .15em; }
a { color: inherit; text-decoration: none; border-bottom: 1px dotted var(--soft); }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(360px, 1fr)); gap: 1rem; }
.charts svg { width: 100%; height: auto; border: 1px solid var(--line); border-radius: 6px; }
.charts.one { max-width: 640px; grid-template-columns: 1fr; }
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
table.cost { font-size: .84rem; }
table.cost th, table.cost td { padding: .25rem .7rem; }
table.cost thead th { border-bottom: 1px solid var(--line); color: var(--soft); font-weight: 500; }
@media print { details { break-inside: avoid; } }
"""
