"""Tables of results, whoever printed them: their cells, runs, numbers and forms."""
