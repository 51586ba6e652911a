"""A bridge does not start under rules that do not hold what they promise."""

from pathlib import Path

import pytest
from dealershoe.bridge.start import open_bridge
from dealershoe.errors import UserError

PACK = """
[pack]
id = "broken"
version = "1.0.0"
title = "A pack whose scenario fails"

[[rules]]
id = "exposed"
finding = "exposed"
ruling = "play-on"
cite = "none"

[[scenarios]]
name = "expects what no rule says"
deal = '''
hand seats=1-3 button=3
card 1 exposed
expect misdeal
'''
"""


def test_a_pack_that_fails_its_own_scenario_is_refused(tmp_path: Path) -> None:
    pack = tmp_path / "broken.toml"
    pack.write_text(PACK)
    journal = tmp_path / "table.journal"
    with pytest.raises(UserError, match=r"broken\.toml:\d+: .*expected `expect misdeal`, got `play-on"):
        open_bridge("/dev/null", str(pack), journal, lambda _: None)
    assert not journal.exists()
