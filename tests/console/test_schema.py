"""The API against its own document: Schemathesis makes requests of it, right ones and wrong ones, and looks at each
answer's status, type and shape."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from console.hall import TOKENS, Hall, hall
from dealershoe.console import document
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
    negative_data_rejection,
]  # fmt: skip
SCHEMA = schemathesis.openapi.from_dict(document.document())
STREAMS = "/api/v1/events"  # has no end: tests/console/test_attacks.py asks for it


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """Two tables; one is in a hand."""
    folder: Path = tmp_path_factory.mktemp("room")
    with hall(folder, {"t1": str(folder / "none"), "t2": str(folder / "none-2")}) as found:
        with found.client("floor") as floor:
            floor.post("/api/v1/tables/t1/lines", json={"id": "0", "line": "hand seats=1-6 button=6"})
        yield found


@SCHEMA.exclude(path=STREAMS).parametrize()
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_every_answer_is_as_it_is_documented(room: Hall, case: Any) -> None:
    if "table" in case.path_parameters and case.meta is not None and case.meta.generation.mode.is_positive:
        case.path_parameters["table"] = "t1"  # names are made at random, and few of them are tables
    headers = {"authorization": f"Bearer {TOKENS['floor']}"}
    response = case.call(base_url=room.url.rstrip("/"), headers=headers)
    case.validate_response(response, checks=CHECKS)
