"""The cards of a sealed hand in the record: nobody's while it is played, proven and named once it is over."""

from __future__ import annotations

from pathlib import Path

import pytest
from dealershoe.errors import UserError
from dealershoe.record.faces import faces
from dealershoe.record.journal import Journal
from dealershoe.record.opening import reading
from dealershoe.record.read import last_hands, opened
from dealershoe.record.replay import Packs, differences, replay
from dealershoe.record.verify import Check
from dealershoe.rules.signing import key_id, new_key, raw_public
from record.dealing import Table

KEY = new_key()
PUBLIC = raw_public(KEY.public_key())


def told(path: Path) -> list[str]:
    """The cards of the last hand in the order in which they left the shoe."""
    with opened(path) as db:
        known = faces(db, last_hands(db, 1)[0])
        return [known[fact] for fact in sorted(known)]


def chained(journal: Journal) -> list[tuple[int, bytes]]:
    """Number and chain value of every fact."""
    return journal._db.execute("SELECT seq, chain FROM facts ORDER BY seq").fetchall()


def begun(path: Path) -> tuple[Journal, Table]:
    """A sealed hand with six cards out."""
    journal = Journal(path, KEY)
    table = Table(journal, 5, sealed=True)
    table.say("hand seats=1-6 button=6")
    table.commit_to()
    for _ in range(6):
        table.draw_due()
    table.commit()
    return journal, table


def test_nobody_is_told_the_cards_of_a_hand_in_play(tmp_path: Path) -> None:
    journal, _ = begun(tmp_path / "journal")
    with journal, pytest.raises(UserError, match="nobody is told its cards before it is over"):
        told(tmp_path / "journal")


def test_what_is_revealed_names_the_cards_and_changes_no_record(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal, table = begun(path)
    with journal:
        before = chained(journal)
        table.say("award")
        table.commit()
        assert told(path) == []  # over, and not revealed yet
        table.reveal()
        table.commit()
        assert [tuple(row) for row in journal._db.execute("SELECT seq, chain FROM facts ORDER BY seq")][
            : len(before)
        ] == before
    assert told(path) == table.dealt
    with reading(path) as db:
        assert list(Check(db, {key_id(PUBLIC): PUBLIC}).run()) == []


def test_a_secret_that_the_shoe_had_not_committed_itself_to_names_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal, table = begun(path)
    with journal:
        table.say("award")
        table.reveal(bytes(range(16)))
        table.commit()
    assert told(path) == []


def test_sealed_hands_are_judged_again_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal, table = begun(path)
    with journal:
        table.deck.append(0)
        table.dealt.clear()
        table.draw_due()  # a card of the deck twice: found by its token alone
        table.deck.append(0)
        table.draw_due()
        table.commit()
        table.say("award")
        table.reveal()
        table.commit()
    with opened(path) as db, Packs(db) as packs:
        (hand,) = replay(db, packs)
    assert list(differences(hand)) == []
    assert any(row.finding == "duplicate" for rows in hand.judged.values() for row in rows if hasattr(row, "finding"))
