"""A Pico to flash without a Pico: real MicroPython and its REPL on a pty, a littlefs on a disk whose power can go at
any write. Only the module `machine` and what `os` says of the board stand in."""

from __future__ import annotations

import ast
import contextlib
import fcntl
import os
import pty
import select
import subprocess
import termios
import threading
import time
import tty
from collections.abc import Callable
from pathlib import Path

from dealershoe.emulate.process import micropython

BLOCKS, BLOCK = 352, 4096  # the file system of an RPI_PICO build
PROMPT = b">>> "
PRELUDE = """
import sys, os as real_os, vfs

class Disk:
    def __init__(self, path, left):
        self.file = open(path, 'r+b')
        self.left = left
    def readblocks(self, n, buf, off=0):
        self.file.seek(n * {block} + off)
        self.file.readinto(buf)
    def spend(self):
        if self.left == 0:
            self.file.flush()
            real_os.system('kill -9 $PPID')
            while True: pass
        self.left -= 1
    def writeblocks(self, n, buf, off=0):
        self.spend()
        self.file.seek(n * {block} + off)
        self.file.write(buf)
        self.file.flush()
    def ioctl(self, op, arg):
        if op == 4: return {blocks}
        if op == 5: return {block}
        if op == 6:
            self.spend()
            return 0

wire = open({wire!r}, 'ab')
disk = Disk({disk!r}, {left})
if {fresh}:
    vfs.VfsLfs2.mkfs(disk)
vfs.umount('/')
vfs.mount(vfs.VfsLfs2(disk), '/')
real_os.chdir('/')
sys.path[:] = ['', '.frozen']

class Uart:
    def __init__(self, *given, **named): pass
    def write(self, data):
        wire.write(data)
        wire.flush()
        return len(data)

class Machine:
    mem32 = {{}}
    UART = Uart
    def unique_id(self): return bytes.fromhex('e661a4d1a3b5c72f')
    def reset(self): real_os.system('kill -9 $PPID')
    def WDT(self, timeout): pass

class Os:
    class uname:
        machine = {machine!r}
        release = {release!r}
    def __getattr__(self, name): return getattr(real_os, name)

sys.modules['machine'] = Machine()
sys.modules['os'] = Os()
real_os.system('stty isig')  # from here on Ctrl-C interrupts, as on a Pico
try:
    text = open('/main.py').read()
except OSError:
    text = ''
try:
    exec(text, {{'__name__': '__main__'}})
except KeyboardInterrupt:
    print('interrupted')
"""


def wait_for(true: Callable[[], bool]) -> None:
    """Until it is, on a machine that may be busy."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class PretendPico:
    """`port` is where its USB is. It starts again by itself whenever it is reset, unless `unplug` was called."""

    def __init__(
        self,
        folder: Path,
        *,
        machine: str = "Raspberry Pi Pico with RP2040",
        release: str = "1.26.1",
        blocks: int = BLOCKS,
        script: str | None = None,
    ) -> None:
        self._folder = folder
        self._facts = {"machine": machine, "release": release}
        self._blocks = blocks
        self._script = script  # runs instead of all of this
        self.disk, self.wire = folder / "disk", folder / "wire"
        self._fresh = not self.disk.exists()
        if self._fresh:
            self.disk.write_bytes(b"\xff" * blocks * BLOCK)
        self.wire.touch()
        self._outer, slave = pty.openpty()
        tty.setraw(slave)
        self._held = slave  # so that the port stays when the host closes it
        self.port = os.ttyname(slave)
        self.left = -1  # writes until the power goes
        self.starts = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._said = bytearray()  # since its last start
        self._power = threading.RLock()  # held while it is switched on or off
        self._inner = -1
        self._ends = threading.Event()
        self._plugged = True
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    def _start(self) -> None:
        self._said = bytearray()
        self._inner, slave = pty.openpty()
        tty.setraw(slave)
        prelude = self._script or PRELUDE.format(
            block=BLOCK, blocks=self._blocks, disk=str(self.disk), wire=str(self.wire),
            left=self.left, fresh=self._fresh, **self._facts,
        )  # fmt: skip
        self._fresh, self.left = False, -1
        script = self._folder / "prelude.py"
        script.write_text(prelude)
        command = [str(micropython()), "-X", "heapsize=2M", "-i", str(script)]

        def own_terminal() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self._process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, preexec_fn=own_terminal
        )
        os.close(slave)
        self.starts += 1

    def _live(self) -> None:
        self._start()
        while not self._ends.is_set():
            readable, _, _ = select.select([self._outer, self._inner], [], [], 0.05)
            for end in readable:
                other = self._inner if end == self._outer else self._outer
                with contextlib.suppress(OSError):  # EIO: the process is gone
                    data = os.read(end, 4096)
                    if end == self._inner:
                        self._said += data
                    os.write(other, data)
            with self._power:
                assert self._process is not None
                if self._process.poll() is not None and self._plugged:
                    os.close(self._inner)
                    self._start()

    def power_cycle(self) -> None:
        """Off and on again."""
        with self._power:
            assert self._process is not None
            self._process.kill()
            starts = self.starts
        wait_for(lambda: self.starts != starts)

    def unplug(self) -> None:
        """Off, until `plug`."""
        with self._power:
            assert self._process is not None
            self._plugged = False
            self._process.kill()
            self._process.wait()

    def plug(self, *, left: int = -1) -> None:
        """On again; the power goes after so many more writes to the disk."""
        self.left = left
        self._plugged = True

    def prompts(self) -> bool:
        """Whether it has run what it runs by itself, and its prompt is there."""
        with self._power:
            return self._process is not None and self._process.poll() is None and PROMPT in self._said

    def started(self) -> None:
        """Wait until it `prompts`: whoever speaks to it earlier sends a Ctrl-C into what it runs by itself."""
        wait_for(self.prompts)

    def close(self) -> None:
        """Gone."""
        self._ends.set()
        self._thread.join()
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        for end in (self._outer, self._held, self._inner):
            os.close(end)

    def on_disk(self, name: str) -> bytes | None:
        """The content of a file, read as the next start would read it."""
        look = self._folder / "look.py"
        look.write_text(
            "import sys, vfs\n"
            f"class Disk:\n f = open({str(self.disk)!r}, 'rb')\n"
            f" def readblocks(s, n, buf, off=0):\n  s.f.seek(n * {BLOCK} + off); s.f.readinto(buf)\n"
            " def writeblocks(s, n, buf, off=0): pass\n"
            f" def ioctl(s, op, arg): return {{4: {self._blocks}, 5: {BLOCK}, 6: 0}}.get(op)\n"
            f"fs = vfs.VfsLfs2(Disk())\n"
            f"try: print(fs.open({name!r}, 'rb').read())\nexcept OSError: print(None)\n"
        )
        done = subprocess.run([str(micropython()), str(look)], capture_output=True, text=True, check=True)
        found = ast.literal_eval(done.stdout.strip())
        assert found is None or isinstance(found, bytes)
        return found
