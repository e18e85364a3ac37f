"""The training itself: what a config is built into, and the loops that run it."""
