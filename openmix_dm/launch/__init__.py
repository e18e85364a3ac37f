"""Processes: joined to ranks, started, stopped in good order, put into queues."""
