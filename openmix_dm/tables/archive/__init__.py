"""Runs of a table in files that can be kept and merged: what `collect --format json` writes and `--from` reads."""
