"""`dealershoe flash`: the firmware onto a Pico through its USB; the old version stays until the new one says HELLO."""

from __future__ import annotations

from pathlib import Path

import click
from shoelink.seal import KEY

from dealershoe.emulate.process import VARIANTS
from dealershoe.errors import UserError
from dealershoe.link import keystore

PATIENCE_S = 10.0  # for the trial's HELLO: a start takes 3 s, and the watchdog ends a hanging one after 8
# What is said of the Pico when the flash is ended with Ctrl-C, by how far it is. The program of a Pico whose REPL was
# spoken to stands still.
LOOKING = UserError(
    "the flash was ended before anything was written",
    "the Pico has what it had, and may stand still",
    "unplug it and plug it in to have it run, or flash again",
)
WRITING = UserError(
    "the flash was ended while the new version was written",
    "the old version, if there was one, is whole and still the one that runs",
    "flash again, or unplug the Pico and plug it in to go on with the old version",
)
KEYING = UserError(
    "the flash was ended while the shoe's key was looked at or written",
    "the old version, if there was one, is still the one that runs, but the shoe may have a key that is kept nowhere",
    "flash again before the shoe goes to a table",
)
MARKING = UserError(
    "the flash was ended while the new version was marked for a trial",
    "at its next start the Pico runs the old version or tries the new one, which is not proven",
    "flash again",
)
TRYING = UserError(
    "the flash was ended before the new version was seen to have said HELLO",
    "its trial goes on without this program: with its HELLO it is kept, else the Pico goes back to the old version",
    f"leave it on for {PATIENCE_S:.0f} s, then unplug it, plug it in and ask `dealershoe doctor` which version it kept",
)


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
@click.option(
    "--variant",
    type=click.Choice(VARIANTS),
    default=VARIANTS[0],
    show_default=True,
    help="What the shoe was built with: the bus to seat nodes, or a reader of tags.",
)
def command(port: str, keys: Path | None, variant: str) -> None:
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
    step = LOOKING
    try:
        address = steps.where(port)
        repl = steps.session(address.path)
        try:
            architecture, device = steps.examine(repl)
            files = build.compiled(build.sources(variant), architecture, variant)
            click.echo(f"{device.hex()}: {len(files)} files, {sum(map(len, files.values()))} bytes")
            step = WRITING
            slot = steps.write_version(repl, files, click.echo)
            step = KEYING
            if steps.set_key(repl, device, path):
                click.echo(f"its key is new, and kept in {path}")
            step = MARKING
            steps.mark(repl, slot, build.start_file())
            step = TRYING
            repl.reset()
        finally:
            repl.close()
        click.echo(f"written to /{slot}; now it must say HELLO")
        steps.outcome(address, slot, PATIENCE_S)
    except KeyboardInterrupt:
        click.echo(f"dealershoe: {step}", err=True)
        raise
    click.echo(f"kept: firmware {build.digest(files).hex()}")
