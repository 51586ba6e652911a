"""`dealershoe flash`: the firmware onto a Pico through its USB; the old version stays until the new one says HELLO."""

from __future__ import annotations

from pathlib import Path

import click
from shoelink.seal import KEY

from dealershoe.errors import UserError
from dealershoe.link import keystore

PATIENCE_S = 10.0  # for the trial's HELLO: a start takes 3 s, and the watchdog ends a hanging one after 8


@click.command("flash", short_help="put the firmware on a Pico")
@click.option(
    "--port",
    required=True,
    metavar="auto|usb:VID:PID[:SERIAL]|PATH",
    help="The port of the Pico's USB, where its REPL is; auto: the only one.",
)
@click.option(
    "--keys",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file of keys. Default: dealershoe/keys.json in your configuration folder.",
)
def command(port: str, keys: Path | None) -> None:
    """Put this version of the firmware on a Pico that runs MicroPython.

    \b
    The new version is written beside the old one, checked, and started for a trial.
    Only its HELLO to the host makes it the one that stays; else the Pico goes back.
    The shoe gets a key of its own, which is kept here too (as by `enroll`).
    Do it at a computer and on a cable that you trust: the key crosses it once, readable.
    """
    try:
        from dealershoe.flash import build, steps
    except ModuleNotFoundError as error:
        raise UserError(
            f"the package {error.name} is missing", "it comes with an extra", "install dealershoe[flash]"
        ) from error
    path = keys or keystore.default_path()
    # a file that cannot be used, or a folder in which no key can be kept, is said before the Pico is changed
    keystore.pend(path, bytes(keystore.DEVICE), bytes(KEY)).drop()
    address = steps.where(port)
    repl = steps.session(address.path)
    try:
        architecture, device = steps.examine(repl)
        files = build.compiled(build.sources(), architecture)
        click.echo(f"{device.hex()}: {len(files)} files, {sum(map(len, files.values()))} bytes")
        slot = steps.write_version(repl, files, click.echo)
        if steps.set_key(repl, device, path):
            click.echo(f"its key is new, and kept in {path}")
        steps.mark(repl, slot, build.start_file())
        repl.reset()
    finally:
        repl.close()
    click.echo(f"written to /{slot}; now it must say HELLO")
    steps.outcome(address, slot, PATIENCE_S)
    click.echo(f"kept: firmware {build.digest(files).hex()}")
