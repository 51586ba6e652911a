"""The table: a fold over facts. What is due, who holds what, which findings arise. No I/O and no rule book in here."""
