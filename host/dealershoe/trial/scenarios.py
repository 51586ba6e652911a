"""A pack's own scenarios: deal scripts that it carries and must rule on as they say. For all who load packs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dealershoe.deal.grammar import parse
from dealershoe.deal.items import DealError
from dealershoe.errors import UserError
from dealershoe.judge.runner import ScriptError, run_script
from dealershoe.rules.pack import SELF, Pack, Scenario
from dealershoe.rules.pack_fields import shown
from dealershoe.rules.stack import Library, Stack, load_pack


@dataclass(frozen=True, slots=True)
class ScenarioFailure:
    """A scenario that does not come out as it says. `line` is the file's."""

    file: str
    scenario: str
    line: int
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {shown(self.scenario)}: expected `{self.expected}`, got `{self.got}`"


@dataclass(frozen=True, slots=True)
class Played:
    """A scenario that was played: what failed, how many expectations were held against it."""

    scenario: Scenario
    failures: tuple[ScenarioFailure, ...]
    checked: int


def run_scenarios(pack: Pack, library: Library | None = None) -> list[ScenarioFailure]:
    """What fails of the pack's scenarios, in their order; other packs of their stacks come from `library` too."""
    return [failure for played in play(pack, library) for failure in played.failures]


def refuse_failing(pack: Pack, library: Library | None = None) -> None:
    """Raises UserError, with file and line, when a scenario of the pack does not come out as it says."""
    failures = run_scenarios(pack, library)
    if failures:
        more = f", and {len(failures) - 1} more" if len(failures) > 1 else ""
        raise UserError(
            str(failures[0]), f"pack `{pack.id}` fails a scenario of its own{more}", "correct the rule or the scenario"
        )


def play(pack: Pack, library: Library | None = None) -> Iterator[Played]:
    """Play each scenario of the pack."""
    for scenario in pack.scenarios:
        yield _played(pack, scenario, library)


def _played(pack: Pack, scenario: Scenario, library: Library | None) -> Played:
    file = shown(Path(pack.path).name)

    def failed(line: int, expected: str, got: str) -> ScenarioFailure:
        return ScenarioFailure(file, scenario.name, line, expected, got)

    try:
        stack = _stack(pack, scenario.stack, library)
    except UserError as error:
        return Played(scenario, (failed(scenario.line, f"the stack {scenario.stack}", str(error)),), 0)
    try:
        before = "\n" * (scenario.first - 1)  # so that the script's lines have the numbers of the file's
        report = run_script(file, parse(before + scenario.deal, file), stack)
    except (DealError, ScriptError) as error:
        return Played(scenario, (failed(error.line, "a line that can be true", str(error)),), 0)
    failures = tuple(failed(f.line, f.expected, f.got) for f in report.failures)
    if not report.checked:
        failures = (failed(scenario.line, "a line that expects something", "none: it proves nothing"),)
    return Played(scenario, failures, report.checked)


def _stack(pack: Pack, spec: str, library: Library | None) -> Stack:
    packs = tuple(pack if name == SELF else load_pack(name, library=library) for name in spec.split("+"))
    return Stack("+".join(one.id for one in packs), packs)
