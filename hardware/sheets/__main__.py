"""`make hardware`: checks board.toml and node.toml and writes every file that follows; `--check` only compares."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from sheets import firmware, harness
from sheets.checks import faults
from sheets.model import ROOT, BoardError, the_board, the_node
from sheets.outputs import outputs

PICTURE = ROOT / "hardware" / "harness.svg"


def main(arguments: list[str]) -> int:
    """0: written, or up to date; 1: out of date; 2: board.toml cannot be built, or a file not be read or written."""
    try:
        return made(arguments)
    except BoardError as error:
        print(f"hardware: {error}", file=sys.stderr)
    except OSError as error:
        print(f"hardware: {error.filename} cannot be read or written ({error.strerror})", file=sys.stderr)
    return 2


def made(arguments: list[str]) -> int:
    """As main; raises BoardError and OSError."""
    board, node = the_board(), the_node()
    wrong = [("board.toml", fault) for fault in faults(board) + firmware.faults(board, firmware.the_firmware())]
    wrong += [("node.toml", fault) for fault in faults(node) + firmware.node_faults(node, firmware.the_nodes_gpios())]
    for file, fault in wrong:
        print(f"hardware/{file}: {fault}", file=sys.stderr)
    if wrong:
        return 2
    texts = outputs(board, node)
    wires = texts["hardware/harness.yml"]
    drawn = PICTURE.exists() and harness.is_drawn(PICTURE.read_text(encoding="utf-8", errors="replace"), wires)
    old = [name for name, text in texts.items() if not written(ROOT / name, text)]
    if "--check" in arguments:
        for name in old + ["hardware/harness.svg"] * (not drawn):
            print(f"{name} does not follow from hardware/board.toml: run make hardware", file=sys.stderr)
        return 0 if drawn and not old else 1
    for name in old:
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(texts[name], encoding="utf-8")
        print(f"wrote {name}")
    return 0 if drawn or draw_harness(wires) else 1


def written(path: Path, text: str) -> bool:
    """Whether a file says that already."""
    return path.exists() and path.read_bytes() == text.encode()


def draw_harness(wires: str) -> bool:
    """The picture of the harness: WireViz draws it with Graphviz. Whether that is installed."""
    if shutil.which("dot") is None:
        print(
            "hardware: harness.svg is not the picture of harness.yml: one of them was changed; "
            "install Graphviz (the command dot) and run make hardware again",
            file=sys.stderr,
        )
        return False
    command = [sys.executable, "-m", "wireviz.wv_cli", "-f", "s", str(PICTURE.with_suffix(".yml"))]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    PICTURE.write_text(harness.stamped(PICTURE.read_text(encoding="utf-8"), wires), encoding="utf-8")
    print("wrote hardware/harness.svg")
    return True


sys.exit(main(sys.argv[1:]))
