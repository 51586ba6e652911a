"""Changes of a shelf for the tests of power cuts; run as a program, the same changes killed at each step in turn."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from dealershoe.rules import signing
from dealershoe.rules.shelf_disk import Disk
from rules.shelf_disks import Killed
from rules.shelf_house import FLOOR, KEY, House, public


def prepared(house: House) -> None:
    """A shelf on which every change below can be made, and whatever they need."""
    house.opened()
    house.install("room", "1.0.0")
    house.install("room", "1.1.0", ruling="correct")
    house.shelf.activate("room@1.0.0", FLOOR)
    house.shelf.activate("room@1.1.0+house", FLOOR)


def trust(house: House) -> None:
    house.shelf.trust(public(KEY), FLOOR)


def install(house: House) -> None:
    house.install("room", "1.2.0")


def activate(house: House) -> None:
    house.shelf.activate("room@1.1.0+roberts", FLOOR)


def rollback(house: House) -> None:
    house.shelf.rollback("", "misread", FLOOR)


def revoke(house: House) -> None:
    house.shelf.revoke(signing.key_id(public(KEY)), "stolen", FLOOR)


CHANGES: dict[str, Callable[[House], None]] = {
    change.__name__: change for change in (trust, install, activate, rollback, revoke)
}


def _kill_at_each_step(change: Callable[[House], None], base: Path) -> int:
    """Copies of the house `base`, each left as the kill left it, in `killed-N`; how many steps there were."""
    original = base.parent / f"{base.name}-original"
    shutil.copytree(base, original)
    for at in itertools.count():
        folder = base / f"killed-{at}"
        shutil.copytree(original, folder)
        child = os.fork()
        if child == 0:
            change(House(folder, Killed(at)))
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            shutil.rmtree(folder)
            return at
    raise AssertionError


def _for_ever(house: House) -> None:
    for number in itertools.count(1):
        old = len(house.shelf.state().active) == 1
        house.shelf.rollback("room@1.1.0+house" if old else "room@1.0.0", str(number), FLOOR)
        print(number, flush=True)


if __name__ == "__main__":
    name, folder = sys.argv[1], Path(sys.argv[2])
    if name == "for-ever":
        _for_ever(House(folder, Disk()))
    else:
        print(_kill_at_each_step(CHANGES[name], folder))
