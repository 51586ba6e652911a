"""Errors that a person reads: one sentence saying what was seen, the likely cause and the next step."""


class UserError(Exception):
    """Bad input from a person, a file, a port or a device; the command line prints it and exits with status 2."""

    def __init__(self, seen: str, cause: str = "", do: str = "") -> None:
        super().__init__("; ".join(part for part in (seen, cause, do) if part))
        self.seen = seen
        self.cause = cause
        self.do = do
