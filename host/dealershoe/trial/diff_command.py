"""`dealershoe rules diff`: on which situations two stacks of rule books differ, each with a deal script to show it."""

from __future__ import annotations

import json
import sys

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from dealershoe.rules.ruling import Ruling
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.shelf_command import shelf_option
from dealershoe.rules.stack import load_stack
from dealershoe.trial.diff import Comparison, Difference, QuestionDifference, compare, questions


@click.command("diff")
@click.argument("left", metavar="STACK")
@click.argument("right", metavar="STACK")
@click.option("--single", is_flag=True, help="Play single faults only, no pairs: a few seconds instead of a minute.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a difference.")
@shelf_option
def diff_command(left: str, right: str, single: bool, as_json: bool, shelf: Shelf) -> None:
    """List the situations on which two packs or stacks differ. Exit status 0: they do not; 1: they do."""
    stacks = load_stack(left, shelf), load_stack(right, shelf)
    names = (left, right)
    found = Comparison(*stacks)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("playing")
        for step in compare(found, pairs=not single):
            progress.update(bar, completed=step.done, total=step.of, description=f"{step.judged:,} situations")
    asked = questions(*stacks)
    differences = found.differences
    for question in asked:
        click.echo(json.dumps(_question_json(question, names)) if as_json else _question_text(question, names))
    for difference in differences:
        lines = found.script(difference)
        click.echo(json.dumps(_json(difference, lines, names)) if as_json else _text(difference, lines, names))
    if not as_json:
        count = len(differences) + len(asked)
        click.echo(f"{left} and {right}: {count} differences in {found.situations:,} situations")
    sys.exit(1 if differences or asked else 0)


def _text(difference: Difference, script: str, names: tuple[str, str]) -> str:
    times = f" ({difference.met} situations)" if difference.met > 1 else ""
    lines = [f"{difference.finding}: {', then '.join(difference.what)}{times}"]
    width = max(map(len, names))
    for name, ruling in zip(names, (difference.left, difference.right), strict=True):
        said = "nothing is wrong"
        if ruling is not None:
            remedy = f": {', '.join(ruling.verbs)}" if ruling.verbs else ""
            said = f"{ruling.ruling}{remedy} ({ruling.cite or 'no rule found'})"
        lines.append(f"  {name:{width}}  {said}")
    return "\n".join((*lines, *(f"    {line}" for line in script.splitlines()), ""))


def _question_text(question: QuestionDifference, names: tuple[str, str]) -> str:
    width = max(map(len, names))
    answers = zip(names, (question.left, question.right), strict=True)
    lines = [question.question.replace("_", " ")]
    lines += [f"  {name:{width}}  {said or 'no rule found'}" for name, said in answers]
    return "\n".join((*lines, *(f"    {line}" for line in question.script.splitlines()), ""))


def _json(difference: Difference, script: str, names: tuple[str, str]) -> dict[str, object]:
    sides = zip(names, (difference.left, difference.right), strict=True)
    return {
        "finding": difference.finding,
        "situations": difference.met,
        "what": list(difference.what),
        "answers": [{"stack": name, **_ruling_json(ruling)} for name, ruling in sides],
        "script": script,
    }


def _ruling_json(ruling: Ruling | None) -> dict[str, object]:
    if ruling is None:
        return {"ruling": "none"}
    return {
        "ruling": ruling.ruling,
        "remedy": list(ruling.verbs),
        "rule": ruling.rule or None,
        "cite": ruling.cite or None,
        "layer": ruling.layer or None,
        "decider": ruling.decider,
    }


def _question_json(question: QuestionDifference, names: tuple[str, str]) -> dict[str, object]:
    sides = zip(names, (question.left, question.right), strict=True)
    return {
        "question": question.question,
        "answers": [{"stack": name, "answer": said or None} for name, said in sides],
        "script": question.script,
    }
