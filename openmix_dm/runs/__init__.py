"""One run on disk: its folder, checkpoints, lock, records and state."""
