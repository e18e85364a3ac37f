"""One file a command: its arguments and its words for the user."""
