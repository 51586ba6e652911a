"""What is committed follows from hardware/board.toml."""

from __future__ import annotations

import pytest
from sheets.model import ROOT, the_board
from sheets.outputs import outputs

OUTPUTS = outputs(the_board())


@pytest.mark.parametrize("name", OUTPUTS)
def test_it_is_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == OUTPUTS[name], "run make hardware"
