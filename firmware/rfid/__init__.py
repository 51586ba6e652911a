"""What only a shoe with a reader of tags has, in place of the seat bus: the variant rfid of hardware/board.toml."""
