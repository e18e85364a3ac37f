"""Studies of trained models, and benchmarks of the code."""
