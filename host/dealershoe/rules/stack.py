"""A stack of packs, highest layer first: which rule books judge at a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from dealershoe.errors import UserError
from dealershoe.rules.conditions import Condition
from dealershoe.rules.expression import ConditionError
from dealershoe.rules.pack import ENGLISH, Pack, indexed, read_pack, strange_windows
from dealershoe.rules.pack_fields import shown
from dealershoe.rules.shelf_names import Version, split_name
from dealershoe.table.findings import Value

SHIPPED = Path(__file__).parent / "packs"
DEFAULT = (SHIPPED / "default-stack.txt").read_text(encoding="utf-8").strip()  # what judges where nobody says

Chain = tuple[Pack, ...]  # a pack as its file has it, and behind it what it extends, to the last


@dataclass(frozen=True, slots=True)
class Stack:
    """Packs in order of precedence. `name` is how scripts call it: ids joined by `+`."""

    name: str
    packs: tuple[Pack, ...]
    files: tuple[Chain, ...] = ()  # what each pack was read from

    def procedure(self, question: str) -> str | None:
        """The highest layer's answer to one of the small questions, None where no pack speaks."""
        for pack in self.packs:
            if question in pack.procedure:
                return pack.procedure[question]
        return None

    def language(self, layer: str) -> str:
        """Of the sentences of the pack with this id; the program's own, where no pack ruled, are English."""
        return next((pack.language for pack in self.packs if pack.id == layer), ENGLISH)


class Library(Protocol):
    """Where packs are found beside those that come with the program: a house's shelf."""

    def find(self, pack: str, version: Version | None) -> Pack | None:
        """That version of a pack, or its highest, as its file has it; None when it is not there."""
        ...


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
    """The pack with what it extends behind its own rules; its own parameters, windows and answers hold for these too.

    A rule of its own may name a window of what it extends. Raises UserError when it names one that is nowhere, and when
    a parameter of its own does not fit a condition of what it extends.
    """
    *rest, pack = files
    for over in reversed(rest):
        parameters = {**pack.parameters, **over.parameters}
        try:
            pack = _with_parameters(pack, parameters)
        except ConditionError as error:
            name = Path(over.path).name
            raise UserError(
                f"{name}: a parameter does not fit `{pack.id}`", str(error), "correct the parameter"
            ) from error
        for rule, do in strange_windows(over, pack.windows):
            where = f"{Path(over.path).name}:{rule.line}: rule `{rule.id}`"
            seen = f"{where}: unknown window `{shown(rule.window)}`"
            raise UserError(seen, f"it stands neither in `{over.id}` nor in `{pack.id}`", do)
        own = {rule.id for rule in over.rules}
        rules = over.rules + tuple(rule for rule in pack.rules if rule.id not in own)
        pack = indexed(
            replace(
                over,
                parameters=parameters,
                procedure={**pack.procedure, **over.procedure},
                windows={**pack.windows, **over.windows},
            ),
            rules,
        )
    return pack


def _with_parameters(pack: Pack, parameters: Mapping[str, Value]) -> Pack:
    """The pack with its conditions read under these parameters. Raises ConditionError."""
    windows = {name: Condition(window.source, parameters) for name, window in pack.windows.items()}
    rules = tuple(
        replace(rule, when=Condition(rule.when.source, parameters)) if rule.when else rule for rule in pack.rules
    )
    return indexed(replace(pack, windows=windows), rules)


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
    return Stack("+".join(pack.id for pack in packs), packs, layers)
