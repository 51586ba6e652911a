"""A stack of packs, highest layer first: which rule books judge at a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dealershoe.errors import UserError
from dealershoe.rules.pack import Pack, indexed, read_pack
from dealershoe.rules.shelf_names import Version, split_name

SHIPPED = Path(__file__).parent / "packs"
DEFAULT = "tda-2024+house"


@dataclass(frozen=True, slots=True)
class Stack:
    """Packs in order of precedence. `name` is how scripts call it: ids joined by `+`."""

    name: str
    packs: tuple[Pack, ...]

    def procedure(self, question: str) -> str | None:
        """The highest layer's answer to one of the small questions, None where no pack speaks."""
        for pack in self.packs:
            if question in pack.procedure:
                return pack.procedure[question]
        return None


class Library(Protocol):
    """Where packs are found beside those that come with the program: a house's shelf."""

    def find(self, pack: str, version: Version | None) -> Pack | None:
        """That version of a pack, or its highest, as its file has it; None when it is not there."""
        ...


Chain = tuple[Pack, ...]  # a pack as its file has it, and behind it what it extends, to the last


def shipped() -> tuple[str, ...]:
    """Ids of the packs that come with the program."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.toml")))


def load_pack(name: str, folder: Path = SHIPPED, library: Library | None = None) -> Pack:
    """A pack by `id` or `id@version` from `library` or `folder`, or by path if `name` ends in `.toml`.

    What it extends is copied in behind its own. Raises UserError for a pack that is not there or not sound.
    """
    return combined(chain(name, folder, library))


def chain(name: str, folder: Path = SHIPPED, library: Library | None = None) -> Chain:
    """The files that make a pack up. A pack by path extends packs beside it first."""
    if not name.endswith(".toml"):
        return extended(_named(name, folder, library), folder, library)
    path = Path(name)
    if not path.is_file():
        raise _unknown(name)
    return extended(read_pack(path), path.parent, library)


def extended(pack: Pack, folder: Path = SHIPPED, library: Library | None = None) -> Chain:
    """`pack` and what it extends, from `folder`, `library` or the packs that come with the program."""
    found = [pack]
    while found[-1].extends:
        name = found[-1].extends
        base = _in(folder, *split_name(name)) or _named(name, SHIPPED, library)
        if base.id in [one.id for one in found]:
            circle = " → ".join([*(one.id for one in found), base.id])
            raise UserError(f"pack `{pack.id}` extends itself", circle, "break the circle")
        found.append(base)
    return tuple(found)


def combined(files: Chain) -> Pack:
    """The pack with the rules, windows and procedure of what it extends behind its own."""
    *rest, pack = files
    for over in reversed(rest):
        own = {rule.id for rule in over.rules}
        rules = over.rules + tuple(rule for rule in pack.rules if rule.id not in own)
        values = {name: getattr(over, name) for name in Pack.__dataclass_fields__}
        values["procedure"] = {**pack.procedure, **over.procedure}
        values["windows"] = {**pack.windows, **over.windows}
        pack = indexed(Pack(**values), rules)
    return pack


def _named(name: str, folder: Path, library: Library | None) -> Pack:
    """The higher of what the library and the folder have; the library's where they are the same."""
    pack, version = split_name(name)
    inside = _in(folder, pack, version)
    housed = library.find(pack, version) if library is not None else None
    if inside is None or housed is None:
        found = housed or inside
        if found is None:
            raise _unknown(name)
        return found
    return inside if Version.parse(inside.version) > Version.parse(housed.version) else housed


def _in(folder: Path, pack: str, version: Version | None) -> Pack | None:
    path = folder / f"{pack}.toml"
    if not path.is_file():
        return None
    found = read_pack(path)
    return found if version is None or Version.parse(found.version) == version else None


def _unknown(name: str) -> UserError:
    known = ", ".join(shipped()) or "none"
    return UserError(
        f"no rule pack `{name}`",
        f"with the program come {known}",
        "name one of these, one on the shelf or a .toml file",
    )


def load_stack(spec: str, library: Library | None = None) -> Stack:
    """A stack from `id+id@version+…`, highest layer first.

    Raises UserError for an unknown pack or one named twice.
    """
    return stacked(chains(spec, library))


def chains(spec: str, library: Library | None = None) -> tuple[Chain, ...]:
    """The files that make a stack up, layer by layer."""
    names = [part.strip() for part in spec.split("+")]
    if not all(names):
        raise UserError(f"the stack `{spec}`", "an empty name stands in it", "join pack ids by +")
    found = tuple(chain(name, library=library) for name in names)
    ids = [files[0].id for files in found]
    if len(set(ids)) < len(ids):
        raise UserError(f"the stack `{spec}`", "a pack stands in it twice", "name each layer once")
    return found


def stacked(layers: tuple[Chain, ...]) -> Stack:
    """The stack of these files."""
    packs = tuple(combined(files) for files in layers)
    return Stack("+".join(pack.id for pack in packs), packs)
