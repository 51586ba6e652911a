"""What is on the flash: the digest of the firmware's own files, which the shoe says in IDENT.

SHA-256 over every .py and .mpy file, in the order of their names: name | 0 | length u32 | content. `doctor` makes the
same of the release and compares.
"""

import hashlib
import os

_PIECE = 1024
_FOLDER = 0x4000  # in st_mode


def _join(folder: str, name: str) -> str:
    return folder + "/" + name if folder else name


def _files(folder: str, name: str, found: list) -> None:
    """Every file of the firmware under `folder`, as (its name from the root, its path)."""
    for entry in os.listdir(folder or "/"):
        path = _join(folder, entry)
        inside = _join(name, entry)
        if os.stat(path)[0] & _FOLDER:
            if entry[0] not in "._":
                _files(path, inside, found)
        elif entry.endswith(".py") or entry.endswith(".mpy"):
            found.append((inside, path))


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
        sha.update(name.encode() + b"\0" + os.stat(path)[6].to_bytes(4, "little"))
        with open(path, "rb") as file:
            n = file.readinto(piece)
            while n:
                sha.update(view[:n])
                n = file.readinto(piece)
    return sha.digest()[:16]
