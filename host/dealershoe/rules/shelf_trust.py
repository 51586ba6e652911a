"""Which signatures the house takes: a fold of its history against the signatures of a file. Pure; for the shelf."""

from __future__ import annotations

from dealershoe.errors import UserError
from dealershoe.rules.shelf_history import State
from dealershoe.rules.shelf_pins import Pin
from dealershoe.rules.signing import Signature, genuine


def signers(state: State, found: tuple[Signature, ...], pin: Pin, needed: int) -> tuple[str, ...]:
    """The trusted keys that signed `pin`. Raises UserError when they are too few, or a signature is not genuine."""
    keys = []
    revoked = []
    for one in found:
        if (one.pack, one.version, one.digest) != pin:
            raise UserError(f"the signature is of {one}, not of this {pin}", "files were mixed up", "get both again")
        public = state.trusted.get(one.key)
        if one.key in state.revoked:
            revoked.append(one.key)
        elif public is not None and genuine(one, public):
            keys.append(one.key)
        elif public is not None:
            raise UserError(
                f"the signature of {pin} by key {one.key} is not genuine",
                "it was changed",
                "get it again from the signer",
            )
    if len(keys) < needed:
        if revoked:
            raise UserError(f"{pin} is signed by the revoked key {revoked[0]}", "", "have it signed with a trusted key")
        if not keys:
            raise UserError(
                f"{pin} is signed by {found[0].key}",
                "the house does not trust that key",
                "trust it with `rules trust`, if it is whose you think",
            )
        raise UserError(
            f"{pin} has {len(keys)} of {needed} signatures by trusted keys", "", "have it signed by another key holder"
        )
    return tuple(keys)
