"""Training and testing: configs, loops, hooks, checkpoints and the folder of a run."""
