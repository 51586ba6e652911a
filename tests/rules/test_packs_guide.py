"""The guide to rule packs and its worked example: what they say is so, also where no shipped pack is left."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from dealershoe.deal.grammar import parse
from dealershoe.deal.items import ExpectRuling
from dealershoe.judge.runner import ScriptError, run_script
from dealershoe.rules.lint import lint
from dealershoe.rules.pack import Scenario, read_pack
from dealershoe.rules.show_vocabulary import put_into, tables
from dealershoe.rules.stack import SHIPPED, load_pack, load_stack, shipped
from dealershoe.trial.scenarios import run_scenarios

ROOT = Path(__file__).parent.parent.parent
GUIDE = ROOT / "docs" / "write-your-own-rule-pack.md"
EXAMPLE = ROOT / "docs" / "examples" / "harbour-light.toml"
TEXT = GUIDE.read_text(encoding="utf-8")
PACKS = [block for block in re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL) if "[pack]" in block]


def test_the_guides_tables_are_what_the_code_declares() -> None:
    marked = re.findall(r"<!-- table: (\w+) -->\n.*?<!-- end -->", TEXT, re.DOTALL)
    assert marked == list(tables())
    assert put_into(TEXT) == TEXT, f"run `dealershoe rules vocabulary --into {GUIDE.relative_to(ROOT)}`"


@pytest.mark.parametrize("block", PACKS, ids=[str(re.findall(r'id = "(.*?)"', block)[0]) for block in PACKS])
def test_the_guides_packs_are_sound(tmp_path: Path, block: str) -> None:
    path = tmp_path / "guide.toml"
    path.write_text(block, encoding="utf-8")
    assert [remark for remark in lint(path) if remark.level != "info"] == []
    pack = load_pack(str(path))
    assert pack.scenarios
    assert run_scenarios(pack) == []


def test_what_extends_a_pack_sets_its_parameters(tmp_path: Path) -> None:
    path = tmp_path / "guide.toml"
    path.write_text(next(block for block in PACKS if "extends" in block))
    extending, base = load_pack(str(path)), load_pack("house")
    assert extending.parameters == {**base.parameters, "exposed_limit": 1}
    assert [rule.id for rule in extending.rules] == [rule.id for rule in base.rules]


def test_the_example_is_sound_and_every_rule_of_it_has_a_scenario() -> None:
    assert [remark for remark in lint(EXAMPLE) if remark.level != "info"] == []
    pack = read_pack(EXAMPLE)
    assert run_scenarios(pack) == []
    proven = {
        line.item.rule for s in pack.scenarios for line in parse(s.deal, s.name) if isinstance(line.item, ExpectRuling)
    }
    unproven = {rule.id for rule in pack.rules} - proven
    assert unproven == set()


def without_rule_names(scenario: Scenario) -> str:
    """The script with what it expects, but for the names of the rules."""
    return re.sub(r" rule=\S+", "", scenario.deal)


def differs(scenario: Scenario, stack: str) -> bool:
    """Does the deal come out otherwise under `stack`?"""
    try:
        return bool(
            run_script(scenario.name, parse(without_rule_names(scenario), scenario.name), load_stack(stack)).failures
        )
    except ScriptError:  # the deal goes on in a way that the other book does not allow
        return True


def test_the_example_differs_from_every_shipped_pack_where_the_guide_says_so() -> None:
    named = set(re.findall(r"\| `(hl-[0-9-]+)` \|", TEXT))
    assert len(named) >= 10
    scenarios = read_pack(EXAMPLE).scenarios
    different = {s.name for s in scenarios if all(differs(s, pack) for pack in shipped())}
    proven = {rule for s in scenarios if s.name in different for rule in re.findall(r"rule=(\S+)", s.deal)}
    assert named - proven == set()


def test_without_the_shipped_packs_the_example_still_rules(tmp_path: Path) -> None:
    package = tmp_path / "dealershoe"
    shutil.copytree(SHIPPED.parent.parent, package, ignore=shutil.ignore_patterns("*.toml", "__pycache__"))
    assert list(package.rglob("*.toml")) == []
    shutil.copytree(ROOT / "protocol" / "shoelink", tmp_path / "shoelink")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "DEALERSHOE_SHELF": str(tmp_path / "shelf")}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = "import dealershoe, dealershoe.cli as c; print(dealershoe.__file__, flush=True); c.main()"
        return subprocess.run([sys.executable, "-c", command, *words], cwd=tmp_path, env=environment,
                              capture_output=True, text=True, check=False)  # fmt: skip

    tested = run("rules", "test", str(EXAMPLE))
    assert str(package) in tested.stdout, tested.stderr
    assert f"{len(read_pack(EXAMPLE).scenarios)} of" in tested.stdout
    assert tested.returncode == 0
    script = tmp_path / "one.deal"
    script.write_text("hand seats=1-6 button=6\ndeal 2\ncard 4\nexpect correct rule=hl-3-1\ndeal hole\n")
    judged = run("judge", str(script), "--rules", str(EXAMPLE))
    assert judged.returncode == 0, judged.stderr
    missing = run("rules", "test", "house")
    assert missing.returncode == 2
    assert "no rule pack `house`" in missing.stderr


def words(path: Path) -> str:
    """What the code of a module says: its texts and names, without comments and docstrings, which may name a source."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    said = [
        repr(node.value) if isinstance(node, ast.Constant) else node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and id(node) not in documentation)
    ]
    return "\n".join(said)


def test_no_host_code_names_a_pack_a_clause_or_a_rule() -> None:
    packs = [load_pack(name) for name in shipped()]
    named = {rule.id for pack in packs for rule in pack.rules} | {pack.id for pack in packs if "-" in pack.id}
    named |= {"roberts", "house+", "'house'"}  # a plain word is a pack's name only where it stands as one
    clauses = {
        clause for pack in packs for rule in pack.rules for clause in re.findall(r"\b[\w-]*\d[\w-]*\b", rule.cite)
    }
    named |= {clause for clause in clauses if re.search(r"\d.*[A-Z]|[A-Z].*\d", clause)}
    assert {"tda-2024", "35-A-7", "RP-5"} <= named
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / "host").rglob("*.py"))
        for said in [words(path)]
        for name in sorted(named)
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", said)
    ]
    assert found == []
