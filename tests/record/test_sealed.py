"""The cards of a sealed hand in the record: nobody's while it is played, proven and named once it is over."""

from __future__ import annotations

from pathlib import Path

import pytest
from dealershoe.bridge.start import desk_from
from dealershoe.entries import EventRow
from dealershoe.errors import UserError
from dealershoe.record.faces import faces
from dealershoe.record.journal import Journal
from dealershoe.record.opening import reading
from dealershoe.record.read import last_hands, opened
from dealershoe.record.replay import Packs, differences, replay
from dealershoe.record.verify import Check
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.signing import key_id, new_key, raw_public
from record.dealing import DEVICE, Table
from shoelink import schema, tokens

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


def restarted(table: Table, folder: Path) -> None:
    """The bridge is killed, and another goes on with the journal."""
    table.commit()
    table.desk = desk_from(table.journal, table.desk.session.stack, Shelf(folder / "shelf"))
    table.desk.device = DEVICE


def test_what_was_committed_to_is_remembered_when_the_bridge_starts_again_before_the_secret_comes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal"
    journal, table = begun(path)
    with journal:
        old, secret = table.desk.hand, table.secret
        table.say("award")
        table.say("hand next")
        restarted(table, tmp_path)
        table.report(schema.Reveal(old, secret))
        table.commit()
        assert [row[3] for row in journal.rows(EventRow) if row[1] == old][-1] == "Revealed"


def test_what_a_hand_begun_by_the_key_was_bound_to_is_remembered_too(tmp_path: Path) -> None:
    """The shoe says REVEAL, COMMIT and then KEY: the commitment comes before the fact that begins the hand."""
    path = tmp_path / "journal"
    journal, table = begun(path)
    with journal:
        table.say("award")
        table.reveal()
        hand, table.secret = table.desk.hand + 1, bytes(range(16))
        table.report(schema.Commit(hand, tokens.commitment(DEVICE, hand, table.secret)))
        table.report(schema.Key(hand, bytes(4), schema.KEY_NEW_HAND, schema.PRESS_SHORT))
        assert table.desk.hand == hand
        table.dealt.clear()
        for _ in range(3):
            table.draw_due()
        restarted(table, tmp_path)
        for _ in range(3):
            table.draw_due()
        table.say("award")
        table.reveal()
        table.commit()
    assert told(path) == table.dealt


def test_a_secret_chosen_after_a_card_left_names_no_card_from_before(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal, table = begun(path)
    with journal:
        secret = table.secret
        table.commit_to()
        table.secret = secret  # a shoe that binds itself anew, to the same names even
        table.report(schema.Commit(table.desk.hand, tokens.commitment(DEVICE, table.desk.hand, secret)))
        table.say("hand seats=1-6 button=6")
        table.report(schema.Reveal(last_hand(journal), secret))
        table.commit()
    with opened(path) as db:
        assert faces(db, last_hands(db, 2)[0]) == {}


def last_hand(journal: Journal) -> int:
    """The shoe's number of the hand before the one in play."""
    return int(journal._db.execute("SELECT hand FROM hands ORDER BY fact LIMIT 1").fetchone()[0])


def test_a_shoe_that_gave_the_secret_away_and_deals_on_is_stopped(tmp_path: Path) -> None:
    journal, table = begun(tmp_path / "journal")
    with journal:
        table.reveal()
        assert table.desk.signal != "stop"  # the key that begins the next hand would come now
        table.draw_due()
        assert table.desk.signal == "stop"
        assert "gave away the secret" in table.desk.align_why
        table.say("hand next")
        table.desk.halt_why = ""  # as a new session with a shoe makes it
        table.commit_to()
        table.draw_due()
        assert table.desk.signal == "ready"


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
