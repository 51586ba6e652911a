"""`make hardware`: checks board.toml and node.toml and writes every file that follows; `--check` only compares."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from sheets import firmware
from sheets.checks import faults
from sheets.model import ROOT, BoardError, the_board, the_node
from sheets.outputs import outputs


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
    old = [name for name, text in texts.items() if not written(ROOT / name, text)]
    if "--check" in arguments:
        for name in old:
            print(f"{name} is older than hardware/board.toml: run make hardware", file=sys.stderr)
        return 1 if old else 0
    for name in old:
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(texts[name], encoding="utf-8")
        print(f"wrote {name}")
    if "hardware/harness.yml" in old:
        draw_harness()
    return 0


def written(path: Path, text: str) -> bool:
    """Whether a file says that already."""
    return path.exists() and path.read_bytes() == text.encode()


def draw_harness() -> None:
    """The picture of the harness: WireViz draws it with Graphviz, where that is installed."""
    if shutil.which("dot") is None:
        print("hardware/harness.svg is as it was: drawing it needs Graphviz (the command dot)")
        return
    command = [sys.executable, "-m", "wireviz.wv_cli", "-f", "s", str(ROOT / "hardware" / "harness.yml")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    print("wrote hardware/harness.svg")


sys.exit(main(sys.argv[1:]))
