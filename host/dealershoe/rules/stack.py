"""A stack of packs, highest layer first: which rule books judge at a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dealershoe.errors import UserError
from dealershoe.rules.pack import Pack, indexed, read_pack

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


def shipped() -> tuple[str, ...]:
    """Ids of the packs that come with the program."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.toml")))


def load_pack(name: str, folder: Path = SHIPPED) -> Pack:
    """A pack by id from `folder`, or by path if `name` ends in `.toml`; what it extends is copied in behind its own."""
    path = Path(name) if name.endswith(".toml") else folder / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(shipped()) or "none"
        raise UserError(f"no rule pack `{name}`", f"installed are {known}", "name one of these or a .toml file")
    return _extended(read_pack(path), path.parent, (name,))


def _extended(pack: Pack, folder: Path, seen: tuple[str, ...]) -> Pack:
    if not pack.extends:
        return pack
    if pack.extends in seen:
        raise UserError(f"pack `{pack.id}` extends itself", " → ".join((*seen, pack.extends)), "break the circle")
    beside = folder / f"{pack.extends}.toml"
    base = read_pack(beside if beside.is_file() else SHIPPED / f"{pack.extends}.toml")
    base = _extended(base, folder, (*seen, pack.extends))
    own = {rule.id for rule in pack.rules}
    rules = pack.rules + tuple(rule for rule in base.rules if rule.id not in own)
    values = {name: getattr(pack, name) for name in Pack.__dataclass_fields__}
    values["procedure"] = {**base.procedure, **pack.procedure}
    values["windows"] = {**base.windows, **pack.windows}
    return indexed(Pack(**values), rules)


def load_stack(spec: str) -> Stack:
    """A stack from `id+id+…`, highest layer first.

    Raises UserError for an unknown pack or one named twice.
    """
    names = [part.strip() for part in spec.split("+")]
    if not all(names):
        raise UserError(f"the stack `{spec}`", "an empty name stands in it", "join pack ids by +")
    packs = tuple(load_pack(name) for name in names)
    ids = [pack.id for pack in packs]
    if len(set(ids)) < len(ids):
        raise UserError(f"the stack `{spec}`", "a pack stands in it twice", "name each layer once")
    return Stack("+".join(ids), packs)
