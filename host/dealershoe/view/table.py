"""The live view of a table: what rich draws of a snapshot, as wide as the terminal allows. For dealers and the floor.

Never colour alone: what is due, wrong or done is also said by a word or a sign. A face shows only where the snapshot
has one, and it has one on an open table only.
"""

from __future__ import annotations

from dataclasses import dataclass

from rich import box
from rich.align import Align
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from dealershoe.view.snapshot import DrawView, LightView, RulingView, SeatView, Snapshot, StepLine

WIDTH = 84  # columns of the whole picture: one screen of an ordinary terminal
CELL = 15  # columns of a seat; on a narrow terminal as many as there are, and shorter words
SHORT = 13  # in a seat with fewer columns "seat 11" and "DUE" have no room
DRAWS = 30  # columns of the list of draws, two less where the picture is narrow
# Seats as they sit, seen from above with the dealer at the bottom: clockwise from the dealer's left hand.
FAR = (4, 5, 6, 7, 8)
LEFT, RIGHT = 3, 9
NEAR = (2, 1, 0, 11, 10)  # 0: the dealer
BACK = "▮"
STATE_STYLE = {
    "ready": "white",
    "attention": "yellow",
    "stop": "bold red",
    "floor": "bold magenta",
    "align": "blue",
    "unsupervised": "blue",
}
RULING_STYLE = {"misdeal": "bold red", "void": "bold red", "floor": "bold magenta", "play-on": "white"}
MARK = {"button": "(D)", "sb": "sb", "bb": "bb"}


@dataclass(frozen=True, slots=True)
class Picture:
    """The whole screen. From 60 columns on nothing of it is cut off but long names."""

    now: Snapshot

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        now, width = self.now, min(options.max_width, WIDTH)
        yield _head(now, width)
        yield _felt(now, min(CELL, (width - len(FAR) + 1) // len(FAR)))
        yield _light(now.light, width)
        yield _happening(now, width)
        if now.faults:
            yield Text("! " + "; ".join(now.faults), style="bold yellow")
        if now.prompt is not None:
            yield Text(f"> {now.prompt}▏", style="bold")


def _head(now: Snapshot, width: int) -> RenderableType:
    line = Text(no_wrap=width == WIDTH, overflow="ellipsis")
    line.append(now.title, style="bold")
    line.append(f"  rules {now.stack}")
    if now.hand is not None:
        line.append(f"  hand {now.hand}")
        line.append(f"  {now.street}" if now.street else "")
    line.append("  ")
    line.append(now.link, style="green" if now.link == "supervised" else "bold blue")
    if now.link_why:
        line.append(f": {now.link_why}", style="blue")
    counts = "   ".join(f"{name} {count}" for name, count in now.counts)
    return Group(line, Text(counts, style="dim"))


def _felt(now: Snapshot, cell: int) -> RenderableType:
    by_seat = {view.seat: view for view in now.seats}
    far, near = _row([cell] * len(FAR)), _row([cell] * len(NEAR))
    far.add_row(*(_seat(by_seat.get(seat), cell) for seat in FAR))
    near.add_row(*(_dealer(now) if seat == 0 else _seat(by_seat.get(seat), cell) for seat in NEAR))
    middle = _row([cell, 3 * cell + 2, cell])
    middle.add_row(_seat(by_seat.get(LEFT), cell), _middle(now), _seat(by_seat.get(RIGHT), cell))
    return Group(far, middle, near)


def _row(widths: list[int]) -> Table:
    grid = Table.grid(padding=(0, 1), pad_edge=False)
    for width in widths:
        grid.add_column(width=width)
    return grid


def _seat(seat: SeatView | None, cell: int) -> RenderableType:
    if seat is None:
        return Text("\n")
    body = Text(no_wrap=True)
    body.append(" ".join(seat.faces) if seat.faces else BACK * seat.cards or "-", style="bold")
    body.append(f" {seat.cards}" if seat.cards else "")
    for mark in seat.marks:
        body.append(f" {MARK.get(mark, mark)}", style="cyan" if mark in MARK else "yellow")
    short = cell < SHORT  # the number first: no cut may make another seat of it
    if seat.due:
        name = f"{seat.seat} ◄" if short else f"► {seat.seat} DUE ◄"
    else:
        name = f"{seat.seat}" if short else f"seat {seat.seat}"
    style = "bold green" if seat.due else "dim"
    return Panel(body, title=name, border_style=style, box=box.HEAVY if seat.due else box.ROUNDED, padding=(0, 0))


def _dealer(now: Snapshot) -> RenderableType:
    return Align.center(Text(f"dealer\n{now.draw_count} drawn", justify="center", style="dim"))


def _middle(now: Snapshot) -> RenderableType:
    body = Text(justify="center", no_wrap=True)
    body.append(_pile("burn", now.burns, (), now.due == "burn"))
    body.append("  ")
    body.append(_pile("board", now.board, now.board_faces, now.due == "board"))
    body.append("  ")
    body.append(_pile("muck", now.muck, (), False))
    due = Text(f"due next: {now.due}", style="bold green" if now.due != "nothing" else "dim", justify="center")
    return Group(Text(""), body, due)


def _pile(name: str, count: int, faces: tuple[str, ...], due: bool) -> Text:
    held = " ".join(faces) if faces else BACK * count or "-"
    text = Text(f"► {name} " if due else f"{name} ", style="bold green" if due else "")
    text.append(held, style="bold")
    return text


def _light(light: LightView, width: int) -> RenderableType:
    line = Text()
    line.append("shoe ")
    pixels = light.pixels
    if pixels is None:
        line.append("[" + "■" * 8 + "]", style=STATE_STYLE[light.state])
    else:
        line.append("[")
        for red, green, blue in pixels:
            lit = red or green or blue
            line.append("■" if lit else "·", style=f"rgb({red},{green},{blue})" if lit else "dim")
        line.append("]")
    line.append(f" {light.state.upper()}", style=STATE_STYLE[light.state])
    line.append("  " if width == WIDTH else "\n")  # always there, so that what is below stands still
    line.append(f"light: {light.light}  sound: {light.sound}")
    return line


def _happening(now: Snapshot, width: int) -> RenderableType:
    draws = DRAWS if width == WIDTH else DRAWS - 2
    grid = Table.grid(padding=(0, 2), pad_edge=False)
    grid.add_column(width=draws)
    grid.add_column(width=max(width - draws - 2, 1))
    grid.add_row(_draws(now.draws), Group(*_rulings(now.rulings), *_steps(now.steps), *_words(now)))
    return grid


def _draws(draws: tuple[DrawView, ...]) -> RenderableType:
    text = Text("last draws\n", style="dim", no_wrap=True)
    for draw in draws:
        text.append(f"#{draw.number:<3}", style="bold")
        text.append(f"{draw.place}{'' if draw.confirmed else '?'}".ljust(10))
        text.append(f" {draw.way_up}", style="" if draw.way_up == "down" else "bold yellow")
        if draw.face:
            text.append(f" {draw.face}")
        for mark in draw.marks:
            text.append(f" {mark}", style="bold yellow")
        text.append("\n")
    return text


def _rulings(rulings: tuple[RulingView, ...]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for ruling in rulings:
        text = Text()
        text.append(ruling.ruling.upper(), style=RULING_STYLE.get(ruling.ruling, "bold yellow"))
        text.append(f"  {ruling.say}\n")
        clause = f"{ruling.cite} ({ruling.layer})" if ruling.layer else ruling.cite
        text.append("; ".join(part for part in (clause, f"the {ruling.decider} decides") if part), style="dim")
        parts.append(text)
    return parts


def _steps(steps: tuple[StepLine, ...]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for number, step in enumerate(steps, 1):
        sign = "✓" if step.done else "►" if step.current else " "
        style = "dim" if step.done else "bold green" if step.current else ""
        parts.append(Text(f"{sign} {number}. {step.text}", style=style))
    return parts


def _words(now: Snapshot) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if now.question:
        parts.append(Text(f"? {now.question}", style="bold yellow"))
    parts.extend(Text(f"· {note}", style="dim") for note in now.notes)
    return parts
