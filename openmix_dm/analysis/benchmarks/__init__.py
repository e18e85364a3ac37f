"""Speed, always as a ratio to a limit measured in the same run: absolute times are noise on a shared machine."""
