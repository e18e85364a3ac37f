"""The script of the page, and the policy that forbids all others and every request.

Without it the page reads as well: it makes buttons of headers, and opens for the printer what hands can open, too.
"""

import base64
import hashlib

SCRIPT = """
'use strict';
const number = text => {
  const found = text.replace(/\\u2212/g, '-').match(/^[<\\s]*([+-]?[0-9.]+(?:e[+-]?[0-9]+)?)/i);
  return found ? parseFloat(found[1]) : NaN;
};
const compare = (a, b) => {
  const [x, y] = [number(a), number(b)];
  return isNaN(x) || isNaN(y) ? a.localeCompare(b, 'en', {numeric: true}) : x - y;
};
const sort = (table, place, order) => {
  const body = table.tBodies[0];
  const text = row => row.cells[place].firstChild ? row.cells[place].textContent.trim() : '';
  const rows = [...body.rows].sort((a, b) => a.dataset.place - b.dataset.place);
  if (order) {
    const empty = row => ['', '-'].includes(text(row));  // at the end, whichever way it is sorted
    rows.sort((a, b) => empty(a) - empty(b) || (empty(a) ? 0 : order * compare(text(a), text(b))));
  }
  body.append(...rows);
};
document.querySelectorAll('table.sortable').forEach(table => {
  [...table.tBodies[0].rows].forEach((row, place) => { row.dataset.place = place; });
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => {
    const button = document.createElement('button');
    button.type = 'button';
    if (!head.textContent.trim()) button.setAttribute('aria-label', 'name');
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute('aria-sort', 'none');
    button.addEventListener('click', () => {
      const next = {none: 'descending', descending: 'ascending', ascending: 'none'}[head.getAttribute('aria-sort')];
      heads.forEach(each => each.setAttribute('aria-sort', 'none'));
      head.setAttribute('aria-sort', next);
      sort(table, place, {none: 0, descending: -1, ascending: 1}[next]);
    });
  });
});
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === 'DETAILS') target.open = true;
};
addEventListener('hashchange', reveal);
reveal();
let opened = [];
addEventListener('beforeprint', () => {
  opened = [...document.querySelectorAll('details.run:not([open])')];
  opened.forEach(each => { each.open = true; });
});
addEventListener('afterprint', () => { opened.forEach(each => { each.open = false; }); });
"""


def digest(script: str) -> str:
    """Return how a policy names a script that may run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


# inline styles, which charts have; pictures inside the page; this very script; nothing else, from nowhere
POLICY = (
    f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {digest(SCRIPT)}; "
    "base-uri 'none'; form-action 'none'"
)
