"""This paper only: what it prints, the configs of its cells, and the rules that their values follow.

Importing it lets the command line know its tables.
"""

from openmix_dm.paper.paper_tables import paper_tables
from openmix_dm.tables.catalogue import register_tables

register_tables(paper_tables)
