"""The steps of a flash: look at the board, write the new version beside the old, mark it, let it prove itself."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from shoelink.seal import KEY

from dealershoe.errors import UserError
from dealershoe.flash import build
from dealershoe.flash.repl import STOP_WATCHDOG, Lost, Repl, greet
from dealershoe.link import keystore
from dealershoe.port.identity import BOOTLOADERS, RASPBERRY_PI, Address, PortLost, Ports, find, locate

BOARD = "Raspberry Pi Pico with RP2040"  # `os.uname().machine` of MicroPython for RPI_PICO
OLDEST = (1, 26)  # the MicroPython that the firmware is tested with
BACK_S = 5.0  # for a Pico to be on USB again: its watchdog may just have ended the trial (8.4 s, and 1 s to come back)
KEY_FILE = "/device.key"  # firmware/shoe/enrol.py
Told = Callable[[str], None]

# Runs on the board. `empty` takes a folder's content away, deepest first; `sha` is the digest of what was written.
HELPERS = f"""
import os, sys, hashlib
def replace(name, data):
    with open(name + '.new', 'wb') as f: f.write(data)
    os.rename(name + '.new', name)
def there(name):
    try: return os.stat(name)
    except OSError: return None
def empty(folder):
    for entry in os.listdir(folder):
        path = folder + '/' + entry
        if os.stat(path)[0] & 0x4000:
            empty(path)
            os.rmdir(path)
        else: os.remove(path)
def sha(folder, names):
    h = hashlib.sha256()
    for name in names:
        path = folder + '/' + name
        h.update(name.encode() + b'\\0' + os.stat(path)[6].to_bytes(4, 'little'))
        with open(path, 'rb') as f:
            while True:
                data = f.read(1024)
                if not data: break
                h.update(data)
    return h.digest()[:16]
def words():
    try:
        with open('/slot') as f: return f.read().split()
    except OSError: return []
def key_sha():
    try:
        with open({KEY_FILE!r}, 'rb') as f: return hashlib.sha256(f.read()).digest()
    except OSError: return b''
"""


def where(wanted: str, ports: Ports | None = None) -> Address:
    """Where the Pico's USB is: "auto", "usb:VID:PID[:SERIAL]" or a path. Raises UserError.

    With "auto" an adapter's port does not count, for behind it is the shoe's link to its host, which has no REPL.
    """
    ports = ports or Ports()
    if wanted != "auto":
        return find(wanted, ports)
    found = [port for port in ports.listed() if port.usb.vid == RASPBERRY_PI]
    if len(found) == 1:
        return Address(found[0].path, found[0].usb)
    if found:
        raise UserError(
            f"{len(found)} ports could be the Pico: {' and '.join(map(str, found))}", "more than one is plugged in",
            "name the right one with --port usb:VID:PID:SERIAL or a path",
        )  # fmt: skip
    for usb in ports.bootloaders():
        raise UserError(
            f"{BOOTLOADERS[usb.vid, usb.pid]} is plugged in, but in its boot loader",
            "BOOTSEL was held, or it has no MicroPython",
            "put MicroPython on it, and flash again",
        )
    raise UserError(
        "no Pico was found on any USB port", "it is not plugged in, or by a cable that only charges",
        "plug the Pico's USB in, or name its port with --port",
    )  # fmt: skip


def session(path: str) -> Repl:
    """The board's raw REPL with the helpers there. Raises UserError."""
    greet(path)
    try:
        repl = Repl(path)
        try:
            repl.run(HELPERS)
        except BaseException:
            repl.close()
            raise
    except Lost as lost:
        raise UserError(
            f"the REPL on {path} does not obey ({lost})", "the board starts again and again, or the line is bad",
            "unplug the Pico, plug it in, and flash again",
        ) from lost  # fmt: skip
    return repl


def examine(repl: Repl) -> tuple[str, bytes]:
    """The board's architecture and device id; a UserError for a board that the firmware is not made for."""
    try:
        return _examined(repl)
    except Lost as lost:
        raise broken("while it was looked at", lost) from lost


def _examined(repl: Repl) -> tuple[str, bytes]:
    machine = repl.ask("os.uname().machine if hasattr(os, 'uname') else sys.platform")
    if machine != BOARD:
        raise UserError(
            f"this is a {machine}", f"the firmware is made for a {BOARD}", "give the port of the shoe's own Pico"
        )
    repl.run(STOP_WATCHDOG)
    version = tuple(int(part) for part in re.findall(r"\d+", repl.ask("os.uname().release"))[:3])
    if version < OLDEST:
        raise UserError(
            f"the Pico runs MicroPython {'.'.join(map(str, version))}",
            f"the firmware needs {'.'.join(map(str, OLDEST))} or newer",
            "put a newer MicroPython on it and flash again",
        )
    mpy = repl.ask("sys.implementation._mpy")
    if (mpy & 0xFF, mpy >> 8 & 3) != build.MPY_VERSION:
        raise UserError(
            f"the Pico takes modules of version {mpy & 0xFF}.{mpy >> 8 & 3}",
            f"the compiler here writes {build.MPY_VERSION[0]}.{build.MPY_VERSION[1]}",
            "put a MicroPython on the Pico that fits this version of dealershoe",
        )
    architecture = build.ARCHITECTURES.get(mpy >> 10 & 0xF)
    if architecture is None:
        raise UserError(
            f"the Pico's processor is of kind {mpy >> 10 & 0xF}", "no compiler for it is known here",
            "give the port of the shoe's own Pico",
        )  # fmt: skip
    return architecture, bytes((repl.ask("machine.unique_id()") + bytes(8))[:8])


def write_version(repl: Repl, files: Mapping[str, bytes], told: Told) -> str:
    """Write the files into the folder that does not hold the good version and check them there; returns its name."""
    where = "before the first file"
    try:
        words = repl.ask("words()")
        good = words[0] if words else "-"
        slot = "b" if good == "a" else "a"
        if len(words) > 1:  # the last try is over: its folder is written anew, so it must not be marked
            repl.run(f"replace('/slot', {good!r})" if good != "-" else "os.remove('/slot')")
        repl.run(f"there('/{slot}') or os.mkdir('/{slot}')\nempty('/{slot}')")
        for folder in sorted({name.rpartition("/")[0] for name in files} - {""}):
            repl.run(f"os.mkdir('/{slot}/{folder}')")
        for number, (name, data) in enumerate(files.items(), 1):
            where = f"at {name}"
            repl.write(f"/{slot}/{name}", data)
            told(f"{number} of {len(files)}: {name}")
        if repl.ask(f"sha('/{slot}', {sorted(files)!r})") != build.digest(files):
            raise UserError(
                "what was read back from the Pico is not what was written",
                "its flash or the line is bad",
                "flash again; the old version is untouched",
            )
    except Lost as lost:
        raise broken(where, lost) from lost
    return slot


def broken(where: str, lost: Lost) -> UserError:
    """The line broke before the new version was marked."""
    return UserError(
        f"the Pico was lost {where} ({lost})",
        "it was unplugged, lost its power or was reset",
        "plug it in and flash again; until then it runs the old version",
    )


def set_key(repl: Repl, device: bytes, keys: Path) -> bool:
    """See that the shoe and the file of keys here have the same key; whether a new one was made."""
    known = keystore.load(keys).get(device)
    try:
        if known is not None and repl.ask(f"key_sha() == hashlib.sha256({known!r}).digest()"):
            return False
        key = known or os.urandom(KEY)
        pending = keystore.pend(keys, device, key)  # a key that cannot be kept here does not replace the shoe's
        try:
            repl.run(f"replace({KEY_FILE!r}, {key!r})")
        except BaseException:
            pending.drop()
            raise
    except Lost as lost:
        raise broken("while its key was written", lost) from lost
    pending.settle()
    return True


def mark(repl: Repl, slot: str, start: bytes) -> None:
    """Have the Pico try the version in `slot` at its next start: a power cut leaves the old version or the trial."""
    try:
        words = repl.ask("words()")
        repl.run(f"replace('/slot', {(words[0] if words else '-') + ' ' + slot!r})")
        repl.run(f"replace('/main.py', {start!r})")
    except Lost as lost:
        raise UserError(
            f"the Pico was lost while the new version was marked ({lost})",
            "it was unplugged, lost its power or was reset",
            "plug it in and flash again; it runs the old version or tries the new one",
        ) from lost


def _back(address: Address, ports: Ports | None) -> str:
    """The path of a Pico that may be starting just now."""
    until = time.monotonic() + BACK_S
    while True:
        try:
            return locate(address, ports)
        except PortLost as lost:
            if time.monotonic() >= until:
                raise UserError(*str(lost).split("; ", 2)) from lost
        time.sleep(0.1)


def outcome(address: Address, slot: str, patience_s: float, ports: Ports | None = None) -> None:
    """Give the trial `patience_s` to say HELLO, then see whether the Pico kept it; a UserError if it went back.

    Since its reset the Pico may have another path: it is found again by who it is, for BACK_S more if it is away.
    """
    until = time.monotonic() + patience_s
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, 0.1))
    repl = session(_back(address, ports))
    try:
        words = repl.ask("words()")
    except Lost as lost:
        raise UserError(
            f"the Pico was lost after the trial of the new version ({lost})",
            "it was unplugged, lost its power or was reset",
            "plug it in and ask `dealershoe doctor` which version it kept",
        ) from lost
    finally:
        repl.reset()
    if words != [slot]:
        old = (
            f"the old version (/{words[0]}) runs again"
            if words and words[0] != "-"
            else "there is no old version to run"
        )
        raise UserError(
            f"the new version did not say HELLO within {patience_s:.0f} s, so it was not kept",
            "a part that it waits for is missing, or it has a fault",
            f"{old}; look at what the Pico prints on its USB when it starts",
        )
