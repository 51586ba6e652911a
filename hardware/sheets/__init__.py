"""Reads hardware/board.toml, checks it and writes what follows from it: for whoever changes the shoe's hardware."""
