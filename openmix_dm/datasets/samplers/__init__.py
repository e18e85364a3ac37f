"""Which images make up which batch, and the keys of what is drawn for them."""
