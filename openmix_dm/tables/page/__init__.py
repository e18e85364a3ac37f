"""A collected table as one self-contained page: numbers, curves, mixed samples, configurations and costs."""
