"""One file a part: the only code besides `board.py` and `main.py` that touches the hardware."""
