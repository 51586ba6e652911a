"""`dealershoe frames FILE|-`: a capture of the line decoded byte by byte, with what is damaged explained."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from dealershoe.errors import UserError
from dealershoe.frames import words
from dealershoe.frames.capture import read
from dealershoe.frames.explain import Block, explain, verdict_of_all

SENDERS = {"host": "from the host", "shoe": "from the shoe"}


@click.command("frames", short_help="decode a capture of the line, byte by byte")
@click.argument("file", metavar="FILE|-")
@click.option("--lines", is_flag=True, help="One line a frame.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line: a frame, or what is none.")
@click.option("--open", "open_table", is_flag=True, help="An open table: show which card it is, and every byte.")
def command(file: str, lines: bool, as_json: bool, open_table: bool) -> None:
    """Decode FILE, or standard input.

    Raw bytes of the line, or a hex dump as people paste it: `00 02 61 …`, xxd, hexdump, od, Wireshark, Python's
    b'…', with `>` `<` `TX:` `RX:` in front of the lines where there are two directions.
    """
    for sender, stream in read(_bytes(file)).items():
        blocks = list(explain(stream))
        if as_json:
            for block in blocks:
                click.echo(json.dumps(words.as_object(block, sender, open_table), ensure_ascii=False))
            continue
        if sender:
            click.echo(f"{SENDERS[sender]}, {len(stream)} bytes")
        for block in blocks:
            _print(block, lines, open_table)
        click.echo(words.summary(blocks))
        cause = verdict_of_all(stream)
        if cause:
            click.echo(cause)


def _print(block: Block, lines: bool, open_table: bool) -> None:
    if lines:
        click.echo(f"{block.at:06x}  {words.one_line(block, open_table)}")
    else:
        click.echo("\n".join([*words.many_lines(block, open_table), ""]))


def _bytes(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UserError(
            f"{file} cannot be read", str(error.strerror), "name a capture, or - for standard input"
        ) from error
