"""How a shoe tells its schema to a host that does not know it: the canonical text, in pieces, each asked for."""

from shoelink import schema


class Teller:
    """The shoe's half: LOOKUP names an offset, WORDS brings the text from there. The text is made when it is asked for.

    The host asks again for what does not come, so nothing here repeats.
    """

    def __init__(self) -> None:
        self._text = b""
        self._offset = -1

    def forget(self) -> None:
        """The session is over."""
        self._text = b""
        self._offset = -1

    def ask(self, offset: int) -> None:
        """The host wants the text from `offset`."""
        self._offset = offset

    @property
    def asked(self) -> bool:
        """Whether there is a WORDS to be sent."""
        return self._offset >= 0

    def say(self) -> "schema.Words":
        """The WORDS to send now."""
        text = self._text = self._text or schema.canonical().encode()
        piece = text[self._offset : self._offset + schema.WORDS_TEXT]
        words = schema.Words(self._offset, len(text), piece + bytes(schema.WORDS_TEXT - len(piece)))
        self._offset = -1
        return words
