"""What facts can be: the values that conditions tell apart, enumerated, without those that no table can show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

from dealershoe.events import GAMES, SEATS
from dealershoe.rules.conditions import Condition
from dealershoe.rules.expression import Among, Binary, Literal, Name, Node, Unary, parts, walk
from dealershoe.table.agenda import HOLDEM_STREETS, STUD_STREETS
from dealershoe.table.findings import FACTS, Facts, Value

MOST = 60_000  # assignments that are looked at before a question is left open; about a second
MOST_OF_A_PACK = 500_000  # of `Budget`; some five seconds, and ten times what the largest pack at hand takes
SEARCH = 20  # what it costs to find the values of one condition, in conditions on an assignment
COUNTED = 12  # a sum of counts is tried with every value up to the constants around it, if they are not above this

TEXTS: dict[str, tuple[str, ...]] = {
    "game": GAMES,
    "street": HOLDEM_STREETS + STUD_STREETS,
    "place": ("nothing", "seat", "burn", "board", "betting", "ack", "shuffle", "pick"),
    "to_place": ("", "seat", "burn", "board", "muck", "off-table", "stub", "aside", "unknown"),
    "by": ("dealer", "player"),
}
RANGES = {"seat": (0, SEATS[-1]), "players": (2, len(SEATS))}  # any other number counts something, from 0

Bond = tuple[tuple[str, ...], Callable[..., bool]]

# What one fact says about another, whatever happens at the table: names, and whether their values can stand together.
BONDS: tuple[Bond, ...] = (
    (("game", "street"), lambda game, street: street in (HOLDEM_STREETS if game == "holdem" else STUD_STREETS)),
    (("heads_up", "players"), lambda heads_up, players: heads_up == (players == 2)),
    (("seat", "on_button"), lambda seat, on_button: seat > 0 or not on_button),
    (("replacement", "initial_deal"), lambda replacement, initial_deal: initial_deal or not replacement),
    (("initial_deal", "position"), lambda initial_deal, position: position > 0 or not initial_deal),
    (("shown_by_dealer", "cards_dealt"), lambda shown, dealt: shown <= dealt),
    (("knew", "knower_bet"), lambda knew, bet: knew or not bet),
    (("boxed_on_deal", "boxed_cards"), lambda on_deal, cards: on_deal <= cards),
    (("chip_actions", "actions"), lambda chips, actions: chips <= actions),
    (("players_acted", "actions"), lambda acted, actions: acted <= actions and (acted > 0) == (actions > 0)),
    (("betting_over", "first_betting_closed"), lambda over, closed: closed or not over),
    (("pot_awarded", "first_betting_closed"), lambda awarded, closed: closed or not awarded),
)


def _on(street: str) -> tuple[Bond, ...]:
    return (("street",), lambda at: at == street), (("game",), lambda game: game == "holdem")


# What a kind of finding says about the facts.
OF_KIND: dict[str, tuple[Bond, ...]] = {
    "boxed": (
        (("boxed_cards",), lambda cards: cards > 0),
        (("boxed_on_deal", "initial_deal"), lambda cards, initial_deal: cards > 0 or not initial_deal),
    ),
    "exposed": (
        (("exposed_by_dealer", "exposed_by_player", "initial_deal"), lambda d, p, initial: d + p > 0 or not initial),
        (("by", "exposed_by_dealer", "initial_deal"), lambda by, n, initial: n > 0 or by != "dealer" or not initial),
        (("by", "exposed_by_player", "initial_deal"), lambda by, n, initial: n > 0 or by != "player" or not initial),
    ),
    "extra-card": ((("extra_cards",), lambda cards: cards > 0),),
    "premature-flop": _on("flop"),
    "premature-turn": _on("turn"),
    "premature-river": _on("river"),
    "premature-street": ((("game",), lambda game: game == "stud"), (("street",), lambda at: at in STUD_STREETS[1:])),
}


class TooWideError(Exception):
    """More assignments than can be looked at."""


class Budget:
    """How much of a pack may still be tried, in conditions on assignments: a hostile one costs seconds, not hours."""

    def __init__(self, most: int = MOST_OF_A_PACK) -> None:
        self.left = most

    def spend(self, cost: int) -> None:
        """Raises TooWideError when all is spent."""
        self.left -= cost
        if self.left <= 0:
            raise TooWideError


def assignments(kind: str, conditions: Sequence[Condition], budget: Budget | None = None) -> Iterator[Facts]:
    """Facts for findings of `kind` that reach every value that the conditions tell apart. Raises TooWideError."""
    budget = budget or Budget()
    budget.spend(SEARCH * len(conditions))
    values = _values(conditions)
    if prod(len(tried) for tried in values.values()) > MOST * 8:
        raise TooWideError
    names = sorted(values)
    known = BONDS + OF_KIND.get(kind, ())
    bonds = [
        [(bound, holds) for bound, holds in known if name in bound and set(bound) <= set(names[: index + 1])]
        for index, name in enumerate(names)
    ]
    count = 0
    chosen: Facts = {}

    def choose(index: int) -> Iterator[Facts]:
        nonlocal count
        if index == len(names):
            count += 1
            budget.spend(len(conditions))
            if count > MOST:
                raise TooWideError
            yield dict(chosen)
            return
        budget.spend(1)
        for value in values[names[index]]:
            chosen[names[index]] = value
            if all(holds(*(chosen[name] for name in bound)) for bound, holds in bonds[index]):
                yield from choose(index + 1)

    yield from choose(0)


def _values(conditions: Sequence[Condition]) -> dict[str, list[Value]]:
    """For each fact that the conditions name, values on every side of what it is compared with."""
    near: dict[str, set[Value]] = {}
    for condition in conditions:
        constants = {abs(c) for c in _constants(condition, condition.tree) if isinstance(c, int)}
        for name in condition.names - set(condition.parameters):
            near.setdefault(name, set())
        for node in walk(condition.tree):
            if isinstance(node, Binary | Among):
                _gather(condition, node, constants, near)
    _share(near)
    return {name: _within(name, found) for name, found in near.items()}


def _share(near: dict[str, set[Value]]) -> None:
    """Facts that a bond ties together are tried with each other's values."""
    for bound, _ in BONDS:
        if set(bound) <= set(near) and all(FACTS[name][0] == "int" for name in bound):
            both = set().union(*(near[name] for name in bound))
            for name in bound:
                near[name] |= both


def _gather(condition: Condition, node: Binary | Among, constants: set[int], near: dict[str, set[Value]]) -> None:
    """Values on every side of one comparison."""
    sides = parts(node)
    facts = [side.name for side in sides if isinstance(side, Name) and side.name not in condition.parameters]
    plain = [value for side in sides if (value := _constant(condition, side)) is not None]
    if len(facts) + len(plain) < len(sides) or len(facts) > 1:
        _gather_sum(condition, node, constants, near)
        return
    for name in facts:
        if FACTS[name][0] == "int":
            near[name] |= {v + d for v in plain if isinstance(v, int) for d in (-1, 0, 1)}
        else:
            near[name] |= set(plain)


def _gather_sum(condition: Condition, node: Node, constants: set[int], near: dict[str, set[Value]]) -> None:
    """Counts that are added up, facts that are compared with one another."""
    most = max(constants, default=1)
    tried = set(range(most + 2)) if most <= COUNTED else {v + d for v in constants for d in (-1, 0, 1)} | {0, 1}
    for below in walk(node):
        if isinstance(below, Name) and below.name not in condition.parameters:
            near[below.name] |= tried if FACTS[below.name][0] == "int" else set(TEXTS.get(below.name, ()))


def _constants(condition: Condition, tree: Node) -> set[Value]:
    return {value for node in walk(tree) if (value := _constant(condition, node)) is not None}


def _constant(condition: Condition, node: Node) -> Value | None:
    """The value of a literal or a parameter, None for anything else."""
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Name):
        return condition.parameters.get(node.name)
    if isinstance(node, Unary) and isinstance(node.of, Literal) and node.mark == "-":
        return -node.of.value if isinstance(node.of.value, int) else None
    return None


def _within(name: str, found: set[Value]) -> list[Value]:
    """The values to try for a fact: those found that it can have, and one that is none of them."""
    kind = FACTS[name][0]
    if kind == "bool":
        return [False, True]
    if kind == "string":
        others = [value for value in TEXTS[name] if value not in found]
        spare = {next((v for v in others if v in group), None) for group in (HOLDEM_STREETS, STUD_STREETS, TEXTS[name])}
        return [value for value in TEXTS[name] if value in found or value in spare]
    low, high = RANGES.get(name, (0, None))
    numbers = {v for v in found if isinstance(v, int) and v >= low and (high is None or v <= high)}
    return sorted(numbers | {low, low + 1})


def impossible_texts(condition: Condition) -> list[tuple[str, str]]:
    """Comparisons of a fact with a text that it never is, as (fact, text)."""
    wrong = []
    for node in walk(condition.tree):
        if isinstance(node, Among) or (isinstance(node, Binary) and node.mark in ("==", "!=")):
            sides = parts(node)
            for name in (side.name for side in sides if isinstance(side, Name) and side.name in TEXTS):
                said = (_constant(condition, side) for side in sides)
                wrong += [(name, text) for text in said if isinstance(text, str) and text not in TEXTS[name]]
    return wrong
