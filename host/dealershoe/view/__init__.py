"""What a person at the table's screen sees, drawn from a frozen snapshot and from nothing else."""
