"""Use a trained model: load it, ask it, publish it, export it."""
