"""What is done to images: one by one, or a batch at a time."""
