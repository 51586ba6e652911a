"""Writes the pinout: the table in hardware/pinout.md and a drawing of the Pico with its signals."""

from __future__ import annotations

from html import escape

from sheets.model import Board, Signal, between

GROUNDS = {3, 8, 13, 18, 23, 28, 33, 38}
NAMED = {30: "RUN", 33: "AGND", 35: "ADC_VREF", 36: "3V3(OUT)", 37: "3V3_EN", 39: "VSYS", 40: "VBUS"}
WIRED = {30: "supervisor U10", 36: "V3V3", 39: "5 V through D4, and C1"}  # pins without a GPIO that are in use
COLOURS = {
    "UART": "#1f77b4",
    "I2C0": "#9467bd",
    "SPI0": "#8c564b",
    "PIO0": "#2ca02c",
    "PWM2": "#e377c2",
    "ADC": "#d62728",
    "SIO": "#555555",
}
BEGIN, END = "<!-- the tables are written by make hardware -->\n", "<!-- end of the tables -->\n"


def header_pin(gpio: int) -> int | None:
    """The Pico's pin 1 to 40 of a GPIO, as in its datasheet's figure of the pinout; None if it has none."""
    free = [pin for pin in range(1, 41) if pin not in GROUNDS and pin not in NAMED]
    brought_out = [*range(23), 26, 27, 28]
    return dict(zip(brought_out, free, strict=True)).get(gpio)


def row(board: Board, signal: Signal) -> str:
    """A line of the table."""
    part = next(part for part in board.parts if part.id == signal.part)
    pin = header_pin(signal.gpio)
    cells = (
        str(signal.gpio), signal.name, signal.use, signal.function, signal.pull, signal.high, part.number,
        "on the Pico" if pin is None else str(pin),
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |\n"


def tables(board: Board) -> str:
    """The tables, one for all boards and one for each variant."""
    text = ""
    for variant in ("", *board.variants):
        chosen = sorted((s for s in board.signals if s.variant == variant), key=lambda signal: signal.gpio)
        if not chosen:
            continue
        text += f"\nOnly with the variant `{variant}`: {board.variants[variant]}.\n\n" if variant else "\n"
        text += "| GPIO | signal | use | function | pull | 1 means | part | pin |\n" + "| --- " * 8 + "|\n"
        text += "".join(row(board, signal) for signal in chosen)
    return text + "\n"


def page(old: str, board: Board) -> str:
    """hardware/pinout.md with its tables renewed; what people wrote around them stays."""
    before, after = between(old, BEGIN, END)
    return before + BEGIN + tables(board) + END + after


def colour(function: str) -> str:
    """By what the pin does."""
    return next(shade for kind, shade in COLOURS.items() if function.startswith(kind))


def text(
    x: float, y: float, words: str, *, anchor: str = "start", size: int = 13, fill: str = "#222", weight: str = "normal"
) -> str:
    """One line of text."""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" fill="{fill}" '
        f'font-weight="{weight}">{escape(words)}</text>\n'
    )


def drawing(board: Board) -> str:
    """The Pico seen from above, USB at the top, with a name and a function at each pin."""
    width, top, pitch = 1180, 120, 34
    left, right = 470, 710
    height = top + 20 * pitch + 130
    signals: dict[int, list[Signal]] = {}
    for signal in board.signals:
        if (pin := header_pin(signal.gpio)) is not None:
            signals.setdefault(pin, []).append(signal)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="DejaVu Sans, Arial, sans-serif">\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n'
    )
    svg += text(width / 2, 34, board.name, anchor="middle", size=20, weight="bold")
    svg += text(width / 2, 56, "seen from above; grey and in brackets: the variant rfid", anchor="middle", fill="#666")
    body = f'x="{left}" y="{top - 30}" width="{right - left}" height="{20 * pitch + 30}" rx="10" fill="#e9f2e9"'
    plug = f'x="{(left + right) / 2 - 40}" y="{top - 44}" width="80" height="40" rx="4" fill="#ccc"'
    svg += f'<rect {body} stroke="#456"/>\n<rect {plug} stroke="#456"/>\n'
    svg += text((left + right) / 2, top - 20, "USB", anchor="middle", size=12)
    for pin in range(1, 41):
        on_left = pin <= 20
        y = top + pitch * (pin - 1 if on_left else 40 - pin) + pitch / 2
        edge, away, anchor = (left, -1, "end") if on_left else (right, 1, "start")
        gpio = next((s.gpio for s in signals.get(pin, ())), None)
        label = NAMED.get(pin) or ("GND" if pin in GROUNDS else f"GP{gpio}" if gpio is not None else "")
        inside = "start" if on_left else "end"
        fill = "#333" if pin in GROUNDS else "#c9a227"
        svg += f'<circle cx="{edge}" cy="{y}" r="11" fill="{fill}" stroke="#456"/>\n'
        svg += text(edge, y + 4, str(pin), anchor="middle", size=10, fill="white" if pin in GROUNDS else "#222")
        svg += text(edge - away * 20, y + 5, label, anchor=inside, weight="bold")
        if pin in WIRED:
            svg += text(edge + away * 24, y + 5, WIRED[pin], anchor=anchor, fill="#222")
        x = edge + away * 24
        for signal in sorted(signals.get(pin, ()), key=lambda signal: signal.variant == "rfid"):
            if signal.variant == "rfid":
                svg += text(x, y + 5, f"({signal.name})", anchor=anchor, size=12, fill="#888")
                continue
            shade = colour(signal.function)
            box = edge + away * 24 - (96 if on_left else 0)
            svg += f'<rect x="{box}" y="{y - 12}" width="96" height="24" rx="4" fill="{shade}"/>\n'
            svg += text(box + 48, y + 5, signal.function, anchor="middle", size=12, fill="white")
            svg += text(edge + away * 132, y + 5, signal.name, anchor=anchor, weight="bold")
            x = edge + away * 280
    internal = [signal for signal in board.signals if header_pin(signal.gpio) is None]
    y = top + 20 * pitch + 40
    for signal in internal:
        note = f"On the Pico itself: GP{signal.gpio} {signal.name}, {signal.function}, a third of VSYS"
        svg += text(width / 2, y, note, anchor="middle")
    kinds = [kind for kind in COLOURS if any(s.function.startswith(kind) for s in board.of(board.recommended))]
    x = (width - 130 * len(kinds)) // 2
    for kind, shade in ((kind, COLOURS[kind]) for kind in kinds):
        svg += f'<rect x="{x}" y="{y + 24}" width="18" height="18" rx="3" fill="{shade}"/>\n'
        svg += text(x + 26, y + 38, kind, size=12)
        x += 130
    return svg + "</svg>\n"
