"""One file for each subcommand of tools/analyze.py: `add_arguments(parser)` and `run(args)`."""
