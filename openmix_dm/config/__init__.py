"""From a config file to a checked config of one run."""
