"""The keys of the shoe at a table on a link: what they say, and what they cannot take back."""

from bridge.rig import ready
from shoelink import schema


def test_the_new_hand_key_and_a_person_saying_so_begin_one_hand_together() -> None:
    rig = ready()
    rig.say("hand next")
    rig.run(20)
    assert rig.desk.session.hand_number == 2
    rig.key(schema.KEY_NEW_HAND)
    rig.run(20)
    assert rig.desk.session.hand_number == 2
    rig.key(schema.KEY_NEW_HAND, hand=rig.desk.hand + 1)
    rig.run(20)
    assert rig.desk.session.hand_number == 3
    assert rig.shoe.due.hand == rig.desk.hand


def test_the_floor_key_calls_the_floor_until_done_is_pressed() -> None:
    rig = ready()
    rig.key(schema.KEY_FLOOR)
    rig.run(20)
    assert rig.shoe.signal.signal == schema.SIGNAL_FLOOR
    rig.key(schema.KEY_DONE)
    rig.run(20)
    assert rig.shoe.signal.signal == schema.SIGNAL_READY


def test_a_key_can_be_taken_back_and_what_the_shoe_sensed_cannot() -> None:
    rig = ready()
    rig.card(1)
    rig.key(schema.KEY_EXPOSED)
    rig.run(20)
    assert rig.shoe.signal.signal == schema.SIGNAL_FLOOR
    rig.key(schema.KEY_DONE, schema.PRESS_HELD)
    rig.run(20)
    assert rig.shoe.signal.signal == schema.SIGNAL_READY
    assert rig.desk.session.draws == 1


def test_no_key_takes_the_floors_decision_back() -> None:
    rig = ready()
    rig.card(1)
    rig.key(schema.KEY_EXPOSED)
    rig.run(20)
    rig.say("floor play-on")
    rig.run(20)
    decided = rig.desk.session.rulings
    assert decided[-1].layer == "floor"
    rig.key(schema.KEY_DONE, schema.PRESS_HELD)
    rig.run(20)
    assert rig.desk.session.rulings == decided
    rig.say("undo")
    rig.run(20)
    assert rig.desk.session.rulings != decided
