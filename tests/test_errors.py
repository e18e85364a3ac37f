import pytest

from openmix_dm.errors import printable
from openmix_dm.tables.listing import align


@pytest.mark.fault(
    49,
    'Escapes, line breaks and letters that run backwards in what a file says: spelt out in messages and tables.',
)
@pytest.mark.parametrize(
    ('text', 'shown'),
    [
        ('Käse 猫 %', 'Käse 猫 %'),
        ('\x1b[2J\x07', '\\x1b[2J\\x07'),
        ('a\nb\r', 'a\\nb\\r'),
        ('\u202egpj', '\\u202egpj'),  # would be shown from right to left
        ('\x9b1m', '\\x9b1m'),  # an escape in one sign
        ('\udc80', '\\udc80'),  # a byte of a file name that is no text
    ],
)
def test_what_a_terminal_would_obey_is_spelt_out(text, shown):
    assert printable(text) == shown
    assert align([['run', text]]) == [f'run  {shown}']


def test_what_is_kept():
    assert printable('a\nb\x1b', keep='\n') == 'a\nb\\x1b'
