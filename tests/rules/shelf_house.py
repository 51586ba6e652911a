"""A house for the tests of the shelf: keys, packs of three lines, and a shelf to put them on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from dealershoe.rules import signing
from dealershoe.rules.pack import read_pack
from dealershoe.rules.shelf import Author, Shelf, signature_path
from dealershoe.rules.shelf_disk import Disk
from dealershoe.rules.shelf_pins import Pin
from dealershoe.trial.scenarios import refuse_failing
from rules.shelf_disks import Recorder

FLOOR = Author("floor", "2024-10-09T12:00:00Z")
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))


def public(key: Ed25519PrivateKey) -> bytes:
    return signing.raw_public(key.public_key())


def pack_text(pack: str, version: str, more: str = "", ruling: str = "misdeal") -> str:
    return f"""# A room's rules, for tests.
[pack]
id = "{pack}"
version = "{version}"
title = "The room's rules {version}"
{more}
[[rules]]
id = "{pack}-boxed"
finding = "boxed"
ruling = "{ruling}"
cite = "{pack} {version}, 1"
say = "A boxed card"
"""


@dataclass
class House:
    """`desk`: where packs are written and signed. `shelf`: where the house keeps them, with `KEY` trusted."""

    folder: Path
    disk: Disk = field(default_factory=Recorder)

    def __post_init__(self) -> None:
        self.desk = self.folder / "desk"
        self.desk.mkdir(exist_ok=True)
        self.shelf = Shelf(self.folder / "shelf", self.disk)

    def opened(self) -> House:
        """The house with its key trusted."""
        self.shelf.trust(public(KEY), FLOOR)
        return self

    def write(self, pack: str, version: str, more: str = "", ruling: str = "misdeal") -> Path:
        path = self.desk / f"{pack}-{version}.toml"
        path.write_text(pack_text(pack, version, more, ruling))
        return path

    def signed(self, path: Path, *keys: Ed25519PrivateKey) -> Path:
        """Sign with `keys`, or with the house's."""
        read = read_pack(path)
        lines = [signing.sign(key, read.id, read.version, read.digest) for key in keys or (KEY,)]
        signature_path(path).write_bytes(signing.write_signatures(lines))
        return path

    def install(self, pack: str, version: str, more: str = "", ruling: str = "misdeal") -> Pin:
        return self.put(self.signed(self.write(pack, version, more, ruling)))

    def put(self, path: Path) -> Pin:
        return self.shelf.install(path, signature_path(path), FLOOR, refuse_failing)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below `folder` with its bytes, links by where they lead; without the empty lock."""
    return {
        str(path.relative_to(folder)): str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if (path.is_symlink() or path.is_file()) and path.name != "lock"
    }
