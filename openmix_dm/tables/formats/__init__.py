"""The forms in which a collected table is given out."""
