"""The bridge between a shoe and a table: the port, the journal, the desk that decides, and their thread."""
