"""The bridge of a card-reading dealing shoe: what was due, what happened, what the rule book says, what to do next."""

__version__ = "0.1.0"
