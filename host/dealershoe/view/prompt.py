"""The line that is being typed under the live view: bytes of a terminal in, finished lines out. Pure."""

from __future__ import annotations

ERASE = (0x08, 0x7F)  # Backspace as terminals send it
KILL = 0x15  # Ctrl-U
ENTER = (0x0A, 0x0D)
ESCAPE = 0x1B


class Prompt:
    """A one-line editor: characters, Backspace, Ctrl-U, Enter. Other keys (arrows, ...) are ignored."""

    def __init__(self) -> None:
        self._typed = bytearray()
        self._escape = 0  # 1 after ESC, 2 within a sequence

    @property
    def text(self) -> str:
        """What has been typed so far."""
        return self._typed.decode(errors="ignore")

    def feed(self, data: bytes) -> list[str]:
        """Keys pressed; returns the lines that were finished by them."""
        lines = []
        for byte in data:
            if self._in_escape(byte):
                continue
            if byte in ENTER:
                lines.append(self.text)
                self._typed.clear()
            elif byte in ERASE:
                self._typed[:] = self.text[:-1].encode()
            elif byte == KILL:
                self._typed.clear()
            elif byte >= 0x20:
                self._typed.append(byte)
        return lines

    def _in_escape(self, byte: int) -> bool:
        """Is the byte part of an escape sequence (ECMA-48: ESC, then [ or O, then up to a final byte from 0x40)?"""
        if self._escape == 0:
            self._escape = 1 if byte == ESCAPE else 0
            return byte == ESCAPE
        if self._escape == 1:
            self._escape = 2 if byte in b"[O" else 0
            return True
        self._escape = 0 if 0x40 <= byte <= 0x7E else 2
        return True
