"""Who may do what at the console: tokens, roles, sessions, and the limit of guesses, in virtual time."""

from __future__ import annotations

import hashlib
import itertools
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from dealershoe.console import access, people
from dealershoe.console.access import Attempts, Person, Sessions
from dealershoe.console.logins import Logins
from dealershoe.console.users_command import command
from dealershoe.errors import UserError
from dealershoe.events import Act, FloorDecision
from hypothesis import given
from hypothesis import strategies as st

EVENTS = (Act(3, "fold"), FloorDecision("misdeal"))


def counted() -> Callable[[int], bytes]:
    """Random bytes of a test: other ones at each call."""
    calls = itertools.count()
    return lambda size: hashlib.sha256(b"%d" % next(calls)).digest()[:size]


def someone(role: str = "dealer", token: str = "t", tables: tuple[str, ...] = ()) -> Person:
    return people.person("ann", role, access.digest_of(token), tables)


@pytest.mark.parametrize(
    ("role", "says", "decides"),
    [("dealer", True, False), ("floor", True, True), ("auditor", False, False), ("system", True, False)],
)
def test_only_the_floor_decides_and_an_auditor_says_nothing(role: str, says: bool, decides: bool) -> None:
    one = someone(role, tables=("t1",))
    assert [one.may_say(event, "t1") for event in EVENTS] == [says, decides]
    assert not any(one.may_say(event, "t2") for event in EVENTS)  # not at somebody else's table
    assert one.sees("t1")
    assert not one.sees("t2")


def test_a_token_is_kept_as_its_hash_and_shown_once(tmp_path: Path) -> None:
    path = tmp_path / "conf" / "users.json"
    run = CliRunner()
    made = run.invoke(command, ["add", "ann", "--role", "floor", "--table", "t1", "--users", str(path)])
    token = made.output.strip()
    assert len(token) == 43
    assert token not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = access.who(people.load(path), token)
    assert found == Person("ann", "floor", hashlib.sha256(token.encode()).hexdigest(), ("t1",))
    assert run.invoke(command, ["list", "--users", str(path)]).output.split() == ["ann", "floor", "t1"]
    renewed = run.invoke(command, ["renew", "ann", "--users", str(path)]).output.strip()
    assert access.who(people.load(path), token) is None
    assert access.who(people.load(path), renewed) is not None
    assert isinstance(
        run.invoke(command, ["add", "ann", "--role", "dealer", "--users", str(path)]).exception, UserError
    )
    assert run.invoke(command, ["remove", "ann", "--users", str(path)]).exit_code == 0
    assert people.load(path) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "are damaged"),
        ("[]", "are damaged"),
        ('{"änn": 1}', "are damaged"),
        ('{"ann": {"role": "king", "digest": ""}}', "there is no role 'king'"),
        ('{"ann": {"role": "floor", "digest": "00"}}', "is no SHA-256"),
        ('{"Ann!": {"role": "floor", "digest": "00"}}', "is no name of a person"),
    ],
)
def test_a_bad_file_of_people_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "users.json"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(UserError, match=said):
        people.load(path)


def test_a_file_of_people_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    path.write_text("{}")
    path.chmod(0o644)
    with pytest.raises(UserError, match=r"open to others \(mode 644\)"):
        people.load(path)


def test_a_session_ends_with_its_time_with_log_out_and_with_a_new_token() -> None:
    sessions = Sessions(counted())
    ann = someone()
    cookie = sessions.begin(ann, 0.0)
    everyone = {"ann": ann}
    assert sessions.of(cookie, everyone, access.SESSION_S - 1) == ann
    assert sessions.of(cookie, everyone, access.SESSION_S) is None
    assert sessions.of(cookie, {"ann": someone(token="new")}, 1.0) is None
    assert sessions.of(cookie, {}, 1.0) is None
    assert sessions.of(cookie[:-1], everyone, 1.0) is None
    other = sessions.begin(ann, 1.0)
    assert other != cookie
    sessions.end(cookie)
    assert sessions.of(cookie, everyone, 2.0) is None
    assert sessions.of(other, everyone, 2.0) is not None


def test_log_ins_are_kept_by_digests_and_a_file_that_is_no_use_costs_a_log_in_at_most(tmp_path: Path) -> None:
    path, said = tmp_path / "share" / "logins" / "here.json", list[str]()
    ann = someone()
    first = Logins(path, said.append)
    cookie = Sessions(counted(), first.load(), first.save).begin(ann, 0.0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert cookie not in path.read_text()
    assert access.csrf_of(cookie) not in path.read_text()
    again = Sessions(counted(), Logins(path, said.append).load(), first.save)
    assert again.of(cookie, {"ann": ann}, 1.0) == ann
    assert again.of(cookie, {"ann": someone(token="new")}, 1.0) is None
    again.end(cookie)
    assert Logins(path, said.append).load() == {}
    assert said == []
    for text, mode in (("{", 0o600), ('{"a": 1}', 0o600), ("{}", 0o644)):
        path.write_text(text)
        path.chmod(mode)
        assert Logins(path, said.append).load() == {}
    assert len(said) == 3
    assert all(each.startswith("everybody logs in again: the log-ins in") for each in said)


def test_after_five_wrong_tokens_a_client_waits_and_another_does_not() -> None:
    attempts = Attempts()
    for at in range(5):
        assert attempts.wait_s("10.0.0.1", float(at)) == 0
        attempts.wrong("10.0.0.1", float(at))
    assert attempts.wait_s("10.0.0.1", 5.0) == 55.0  # until the first is a minute old
    assert attempts.wait_s("10.0.0.2", 5.0) == 0
    assert attempts.wait_s("10.0.0.1", 60.0) == 0


@given(st.lists(st.tuples(st.integers(0, 3_000), st.floats(0, 2)), max_size=400))
def test_all_clients_together_guess_two_hundred_times_a_minute_at_most(steps: list[tuple[int, float]]) -> None:
    attempts, now, heard = Attempts(), 0.0, []
    for client, pause in steps:
        now += pause
        if attempts.wait_s(str(client), now) == 0:
            attempts.wrong(str(client), now)
            heard.append(now)
    for at in heard:
        assert sum(at <= other < at + access.WINDOW_S for other in heard) <= access.ALL_TRIES
