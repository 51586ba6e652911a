"""What is on the flash: the digest of the firmware's own files, which the shoe says in IDENT.

SHA-256 over every .py and .mpy file, in the order of their names: name | 0 | length u32 | content. `doctor` makes the
same of the release and compares. The shoe starts with it, so no file is asked what it is: that takes a Pico 4 ms each.
"""

import hashlib
import os

_PIECE = 1024


def _join(folder: str, name: str) -> str:
    return folder + "/" + name if folder else name


def _files(folder: str, name: str, found: list) -> None:
    """Every file of the firmware under `folder`, as (its name from the root, its path)."""
    for entry in os.listdir(folder or "/"):
        if entry.endswith(".py") or entry.endswith(".mpy"):
            found.append((_join(name, entry), _join(folder, entry)))
        elif "." not in entry and entry[0] != "_":
            try:
                _files(_join(folder, entry), _join(name, entry), found)
            except OSError:  # a file
                pass


def digest(root: str, link: str) -> bytes:
    """The first 16 bytes. `root` is the folder of main.py, `link` that of shoelink when it is not in the root."""
    found: list = []
    _files(root, "", found)
    if link:
        _files(link, "shoelink", found)
    found.sort()
    sha = hashlib.sha256()
    piece = bytearray(_PIECE)
    view = memoryview(piece)
    for name, path in found:
        with open(path, "rb") as file:
            sha.update(name.encode() + b"\0" + file.seek(0, 2).to_bytes(4, "little"))
            file.seek(0)
            n = file.readinto(piece)
            while n:
                sha.update(view[:n])
                n = file.readinto(piece)
    return sha.digest()[:16]
