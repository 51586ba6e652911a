"""Runs the firmware's files under CPython on the same stand-in hardware, where no MicroPython wheel exists.

Started by `process.Firmware` as a script: `python twin.py main.py`, with MICROPYPATH as MicroPython would have it. It
supplies the built-in modules that the hardware files and the firmware import: utime, uselect, umachine, uctypes,
micropython and what MicroPython adds to gc and sys. It proves behaviour, not memory or timing.
"""

from __future__ import annotations

import builtins
import ctypes
import gc
import importlib.util
import os
import runpy
import select
import sys
import time
import traceback
from types import ModuleType
from typing import Any

_WRAP = (1 << 62) - 1  # ticks of the unix port wrap there; hal/time.py narrows them to a Pico's


def _module(name: str, **members: Any) -> None:
    module = ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


class _Poll:
    """select.poll with MicroPython's answers: the registered object itself, and ipoll."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._objects: dict[int, Any] = {}

    def register(self, thing: Any, events: int = select.POLLIN | select.POLLOUT) -> None:
        self._objects[thing.fileno()] = thing
        self._poll.register(thing, events)

    def unregister(self, thing: Any) -> None:
        self._poll.unregister(thing)

    def poll(self, timeout: int = -1) -> list[tuple[Any, int]]:
        return [(self._objects[fd], events) for fd, events in self._poll.poll(None if timeout < 0 else timeout)]

    ipoll = poll


def _memory(address: int, size: int) -> memoryview:
    return memoryview((ctypes.c_char * size).from_address(address)).cast("B")


def _address(thing: bytearray | memoryview) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(thing))


def _no_emitter(name: str) -> Any:
    """The firmware falls back to its plain files, as on any interpreter without the viper emitter."""
    if name.startswith("__"):  # CPython's import looks for these by itself
        raise AttributeError(name)
    raise ImportError(f"no micropython.{name} under CPython")


def _same(function: Any) -> Any:
    return function


def _install() -> None:
    _module(
        "utime",
        # all of it, for CPython's own files will find the stand-in as `time`
        **{name: member for name, member in vars(time).items() if not name.startswith("_")},
        ticks_ms=lambda: time.monotonic_ns() // 1_000_000 & _WRAP,
        ticks_us=lambda: time.monotonic_ns() // 1_000 & _WRAP,
        ticks_cpu=lambda: time.monotonic_ns() & _WRAP,
        ticks_add=lambda a, b: (a + b) & _WRAP,
        ticks_diff=lambda a, b: ((a - b + (_WRAP + 1) // 2) & _WRAP) - (_WRAP + 1) // 2,
        sleep_ms=lambda ms: time.sleep(ms / 1e3),
        sleep_us=lambda us: time.sleep(us / 1e6),
    )
    flags = {name: getattr(select, name) for name in ("POLLIN", "POLLOUT", "POLLERR", "POLLHUP")}
    _module("uselect", poll=_Poll, **flags)
    _module("umachine", PinBase=object, idle=lambda: None)
    _module("uctypes", addressof=_address, bytearray_at=_memory)
    _module(
        "micropython",
        const=_same,
        native=_same,
        kbd_intr=lambda char: None,
        alloc_emergency_exception_buf=lambda size: None,
        mem_info=lambda *args: None,
        opt_level=lambda *args: None,
        __getattr__=_no_emitter,
    )
    # MicroPython's additions; a Pico's heap, for there is no such ceiling here
    vars(gc).setdefault("mem_free", lambda: 240_000)
    vars(gc).setdefault("mem_alloc", lambda: 0)
    vars(gc)["threshold"] = lambda *args: -1
    vars(sys).setdefault("print_exception", lambda error, file=sys.stderr: traceback.print_exception(error, file=file))
    vars(builtins)["const"] = _same


def main() -> None:
    """Run the script named on the command line as MicroPython would."""
    script = sys.argv[1]
    _install()
    folders = [part for part in os.environ["MICROPYPATH"].split(":") if part != ".frozen"]
    sys.path[:1] = [os.path.dirname(script), *folders]
    # `time` is built in here and would be found before any folder
    spec = importlib.util.spec_from_file_location("time", os.path.join(folders[0], "time.py"))
    assert spec is not None
    assert spec.loader is not None
    sys.modules["time"] = stand_in = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stand_in)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
