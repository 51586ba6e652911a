"""A sysfs and a /dev of one's own: boards that are plugged in, pulled out and come back, as Linux would show them."""

from __future__ import annotations

import shutil
from pathlib import Path

from dealershoe.port.identity import Ports, Roots


class UsbTree:
    """`plug` and `unplug` boards under `root`; `ports` looks at them."""

    def __init__(self, root: Path) -> None:
        self.roots = Roots(root / "sys", root / "dev", root / "proc")
        for folder in ("sys/class/tty", "sys/bus/usb/devices", "dev/serial/by-id", "proc"):
            (root / folder).mkdir(parents=True)
        self.ports = Ports(self.roots)

    def plug(
        self,
        hub: str,
        vid: int,
        pid: int,
        tty: str = "",
        serial: str = "",
        *,
        product: str = "",
        to: str = "",
        interface: int = 0,
    ) -> Path:
        """A board at `hub`, with the port /dev/`tty` (none: a boot loader), which leads to the pty `to`."""
        sys = self.roots.sys
        board = sys / "devices/pci0/usb1" / hub
        board.mkdir(parents=True, exist_ok=True)
        for name, text in {
            "idVendor": f"{vid:04x}",
            "idProduct": f"{pid:04x}",
            "serial": serial,
            "product": product,
        }.items():
            if text:
                (board / name).write_text(text + "\n")
        link = sys / "bus/usb/devices" / hub
        if not link.is_symlink():
            link.symlink_to(board)
        path = self.roots.dev / tty
        if tty:
            function = board / f"{hub}:1.{interface}"
            function.mkdir()
            (function / "bInterfaceNumber").write_text(f"{interface:02x}\n")
            device = function
            if tty.startswith("ttyUSB"):  # usb-serial puts one more folder between
                device = function / tty
                device.mkdir()
                (device / "latency_timer").write_text("16\n")
            (sys / "class/tty" / tty).mkdir()
            (sys / "class/tty" / tty / "device").symlink_to(device)
            if to:
                path.symlink_to(to)
            else:
                path.touch()
            if serial:
                name = f"usb-{product or 'Board'}_{serial}-if{interface:02d}"
                (self.roots.dev / "serial/by-id" / name).symlink_to(path)
        return path

    def unplug(self, hub: str) -> None:
        """The board is pulled out, its ports go."""
        board = self.roots.sys / "devices/pci0/usb1" / hub
        for tty in (self.roots.sys / "class/tty").glob("*"):
            if (tty / "device").resolve().is_relative_to(board.resolve()):
                shutil.rmtree(tty)
                path = self.roots.dev / tty.name
                for link in (self.roots.dev / "serial/by-id").glob("*"):
                    if link.readlink() == path:
                        link.unlink()
                path.unlink()
        (self.roots.sys / "bus/usb/devices" / hub).unlink()
        shutil.rmtree(board)
