"""A seat node: a small board with a Pico of its own at a seat, the burn or the board place. Same language as the
shoe.
"""
