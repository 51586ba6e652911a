"""The doctor at the USB ports: who is plugged in, who holds it, may this user open it, is it put to sleep."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from dealershoe.doctor.finding import BAD, GOOD, NOTE, Finding
from dealershoe.port.identity import BOOTLOADERS, VENDORS, Listed, Ports, Roots, holders
from dealershoe.port.port import LATENCY_MS, latency_timer

try:
    import grp
except ImportError:  # Windows has no groups of this kind
    grp = None  # type: ignore[assignment]

MODEM_MANAGER = "ModemManager"
RULES = "/etc/udev/rules.d/60-dealershoe.rules"


def ports(found: Ports, wanted: str) -> Iterator[Finding]:
    """Every serial port of a USB part, and boards that wait for firmware. `wanted`: a path that was given, or ""."""
    listed = found.listed()
    for usb in found.bootloaders():
        yield Finding(
            "bootloader",
            BAD,
            f"There is {BOOTLOADERS[usb.vid, usb.pid]} in its boot loader at {usb.hub or 'a port'}.",
            "Unplug it and plug it in again without holding BOOTSEL; if it stays so, give it firmware.",
        )
    if wanted and os.path.realpath(wanted) not in {os.path.realpath(port.path) for port in listed}:
        yield from permission(wanted)
        if _is_terminal(wanted, found.roots):  # no pty, which its maker holds too, and no file or /dev/null
            yield from held(wanted, found.roots)
    candidates = [port for port in listed if port.usb.vid in VENDORS]
    for port in listed:
        yield from _port(port, found.roots, port in candidates)
    if not candidates and not wanted:
        yield Finding(
            "ports",
            BAD,
            "No shoe is plugged in: there is no serial port of a maker that a shoe can have.",
            "Plug it in. If it is, try another cable: many carry power only. If it has another adapter, use --port.",
        )
    if len(candidates) > 1:
        names = " and ".join(map(str, candidates))
        yield Finding(
            "ports",
            NOTE,
            f"More than one part could be the shoe, --port auto will not choose: {names}.",
            "Name the right one, for example --port "
            + (candidates[0].by_id or f"usb:{candidates[0].usb.vid:04x}:{candidates[0].usb.pid:04x}")
            + ".",
        )
    if _runs(MODEM_MANAGER, found.roots.proc):
        yield Finding(
            "modemmanager",
            NOTE,
            "ModemManager runs here and may speak to a port that has just been plugged in. The link stands that.",
            f'To keep it away put ENV{{ID_MM_DEVICE_IGNORE}}="1" for the part into {RULES}.',
        )


def _port(port: Listed, roots: Roots, candidate: bool) -> Iterator[Finding]:
    could = "could be the shoe" if candidate else "is no adapter that a shoe has"
    by_id = f", {port.by_id}" if port.by_id else ""
    yield Finding("port", GOOD if candidate else NOTE, f"{port}{by_id} {could}.")
    if candidate:
        yield from permission(port.path)
        yield from held(port.path, roots)
        yield from _asleep(port, roots)
        yield from latency(port.path, roots)


def _is_terminal(path: str, roots: Roots) -> bool:
    """Whether the system lists `path` as a serial port."""
    return (roots.sys / "class/tty" / os.path.basename(os.path.realpath(path))).exists()


def permission(path: str) -> Iterator[Finding]:
    """May this user open the port?"""
    if not os.path.exists(path) or os.access(path, os.R_OK | os.W_OK):
        return
    group = ""
    if grp is not None:
        with contextlib.suppress(OSError, KeyError):
            group = grp.getgrgid(os.stat(path).st_gid).gr_name
    yield Finding(
        "permission",
        BAD,
        f"This user may not open {path}" + (f": it belongs to the group {group}." if group else "."),
        f"Run `sudo usermod -aG {group or 'dialout'} $USER`, then log out and in again.",
    )


def held(path: str, roots: Roots) -> Iterator[Finding]:
    """Does another program hold the port?"""
    who = holders(path, roots)
    if who:
        yield Finding(
            "holder",
            BAD,
            f"{path} is held by process {', '.join(who)}.",
            "If that is the bridge of this table, all is well: the doctor does not disturb it. Else stop it.",
        )


def latency(path: str, roots: Roots) -> Iterator[Finding]:
    """How long does the adapter hold bytes back?"""
    timer = latency_timer(path, roots)
    if timer is None:
        return
    with contextlib.suppress(OSError, ValueError):
        ms = int(timer.read_text())
        if ms <= LATENCY_MS:
            yield Finding("latency", GOOD, f"{path} hands bytes over within {ms} ms.")
        elif os.access(timer, os.W_OK):
            yield Finding("latency", GOOD, f"{path} holds bytes back for {ms} ms; the bridge makes it {LATENCY_MS}.")
        else:
            yield Finding(
                "latency",
                NOTE,
                f"{path} holds bytes back for {ms} ms, and this user may not change it.",
                f'Put ATTR{{latency_timer}}="{LATENCY_MS}" for the part into {RULES}.',
            )


def _asleep(port: Listed, roots: Roots) -> Iterator[Finding]:
    """Does the system put the part to sleep? Then what the shoe says first is lost or late (S23)."""
    power = roots.sys / "bus/usb/devices" / port.usb.hub / "power"
    control = _text(power / "control")
    if control == "auto":
        delay = _text(power / "autosuspend_delay_ms") or "2000"
        yield Finding(
            "power",
            BAD,
            f"USB power saving puts {port.path} to sleep after {delay} ms of silence.",
            f'Put ATTR{{idVendor}}=="{port.usb.vid:04x}", ATTR{{power/control}}="on" into {RULES}, and take the part '
            "out of the list of TLP or the like.",
        )
    elif control:
        yield Finding("power", GOOD, f"{port.path} is kept awake.")


def _runs(name: str, proc: Path) -> bool:
    return any(_text(comm) == name for comm in proc.glob("[0-9]*/comm"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
