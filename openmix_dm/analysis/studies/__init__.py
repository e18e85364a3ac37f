"""One file for each subcommand of tools/analyze.py: `run(...)` returns a figure and its numbers."""
