"""What hypothesis needs to make any message, for the tests of the link."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st
from shoelink import schema

_INTEGERS = {"B": 0xFF, "H": 0xFFFF, "Q": 0xFFFF_FFFF_FFFF_FFFF}


def fields(kind: int) -> st.SearchStrategy[dict[str, Any]]:
    """Values for every field of a kind, over the whole range that its layout has."""
    by_name: dict[str, st.SearchStrategy[Any]] = {}
    codes = re.findall(r"(\d*)([a-zA-Z])", schema.LAYOUTS[kind])
    for name, (length, code) in zip(schema.FIELDS[kind].split(), codes, strict=True):
        if code == "s":
            by_name[name] = st.binary(min_size=int(length), max_size=int(length))
        else:
            by_name[name] = st.integers(0, _INTEGERS[code])
    return st.fixed_dictionaries(by_name)


kinds = st.sampled_from(sorted(schema.NAMES))
headers = st.tuples(
    st.integers(1, 255), st.sampled_from([0, 0x40, 0x0F, 0x4F]), st.integers(0, 0xFFFF), st.integers(0, 0xFFFF)
)
bodies = st.binary(max_size=schema.BODY) | st.lists(st.sampled_from([0, 1, 255]), max_size=schema.BODY).map(bytes)
