"""A table as the bridge sees it: reports and lines in, signals and records out. No I/O."""
