"""Pictures of mixing, and charts."""
