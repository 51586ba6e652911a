"""A room in one file: its tables, its console, who may use it. For `run --config` and `check`."""
