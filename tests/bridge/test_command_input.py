"""What `dealershoe run` reads on standard input: line by line, none of any length kept, none ahead of the table."""

import io
import threading

import pytest
from dealershoe.bridge import command
from dealershoe.bridge.command import LONGEST_LINE, WAITING_LINES, lines_of
from hypothesis import given
from hypothesis import strategies as st


@given(st.lists(st.integers(0, 3 * LONGEST_LINE + 5), max_size=8), st.booleans())
def test_lines_too_long_are_passed_over_whole(lengths: list[int], ended: bool) -> None:
    text = "\n".join("x" * length for length in lengths)
    if ended and lengths:
        text += "\n"
    expected = [None if n > LONGEST_LINE else "x" * n for n in lengths]
    if expected and expected[-1] == "" and not ended:
        expected.pop()  # nothing after the last end of line is no line
    assert list(lines_of(io.StringIO(text))) == expected


class Slow:
    """A bridge that takes no line until it is let."""

    def __init__(self) -> None:
        self.told: list[object] = []
        self.full = threading.Event()

    def tell(self, text: str, origin: str, line: int, done: object, who: str) -> None:
        self.told.append(done)
        if len(self.told) == WAITING_LINES:
            self.full.set()


def test_whoever_writes_faster_than_the_table_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    bridge = Slow()
    monkeypatch.setattr("sys.stdin", io.StringIO("act 1 fold\n" * (WAITING_LINES + 10)))
    reader = threading.Thread(target=command._listen, args=(bridge, lambda _: None), daemon=True)
    reader.start()
    assert bridge.full.wait(20)
    reader.join(0.2)
    assert reader.is_alive()
    assert len(bridge.told) == WAITING_LINES
    for number in range(WAITING_LINES + 10):
        while number >= len(bridge.told):
            reader.join(0.01)
        done = bridge.told[number]
        assert callable(done)
        done(None)
    reader.join(20)
    assert not reader.is_alive()
    assert len(bridge.told) == WAITING_LINES + 10
