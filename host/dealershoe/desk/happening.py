"""What the bridge has to say, one record a happening: for plain lines on a pipe, for `--json`, for the demo."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

Plain = str | int | bool | None | list[int] | list[str]


@dataclass(frozen=True, slots=True)
class Happening:
    """`kind`: hand draw seat event ruling step due signal question fault link note refused stats; of
    the program around the table: room program. `text`: one line."""

    kind: str
    text: str
    data: Mapping[str, Plain] = field(default_factory=dict)

    def as_line(self) -> str:
        """The plain line."""
        return f"{self.kind:<9}{self.text}"

    def as_data(self) -> dict[str, Plain]:
        """The object for a program."""
        return {"kind": self.kind, "text": self.text, **self.data}

    def as_json(self) -> str:
        """That on one line."""
        return json.dumps(self.as_data(), ensure_ascii=False)
