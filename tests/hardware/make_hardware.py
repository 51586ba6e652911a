"""`make hardware` on a board in another folder, for the tests of what it refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sheets.model import HARDWARE


def make_hardware(root: Path) -> subprocess.CompletedProcess[str]:
    """`make hardware` on the board of another folder."""
    script = f"import sys; sys.path.insert(0, {str(HARDWARE)!r}); import sheets.model as m; from pathlib import Path\n"
    script += f"m.HARDWARE = Path({str(root / 'hardware')!r}); m.ROOT = Path({str(root)!r})\n"
    script += "import runpy; runpy.run_module('sheets', run_name='__main__')"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
