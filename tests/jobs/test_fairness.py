"""Test who gets the next slot and the next place."""

import threading

import pytest

from explorer.errors import QueueFull, TooManyRequests
from explorer.jobs.caller import Caller, Urgency
from explorer.jobs.fairness import FairQueue, Places, Turns


def filled(queue, *clients, urgency=Urgency.INTERACTIVE):
    """Let one item wait for each name of a client; items of a client are numbered."""
    for number, client in enumerate(clients):
        queue.put(f"{client}{number}", Caller(client, urgency=urgency))
    return queue


def started(queue):
    """Start and end one item after another."""
    items = []
    while (item := queue.take()) is not None:
        items.append(item)
        queue.done(item[0])
    return items


def test_clients_take_turns():
    queue = filled(FairQueue(1), *"aaaab", *"c")
    assert [item[0] for item in started(queue)] == ["a", "b", "c", "a", "a", "a"]


def test_the_items_of_one_client_keep_their_order():
    assert started(filled(FairQueue(1), *"aaa")) == ["a0", "a1", "a2"]


def test_a_client_that_comes_late_is_next():
    queue = filled(FairQueue(1), *"aaaa")
    assert queue.take() == "a0"
    filled(queue, "b")
    queue.done("a")
    assert queue.take() == "b0"


def test_the_client_with_the_fewest_running_is_next():
    queue = filled(FairQueue(3), *"aaab")
    assert [queue.take(), queue.take(), queue.take()] == ["a0", "b3", "a1"]
    queue.done("b")
    filled(queue, "b")
    assert queue.take() == "b0"


def test_the_reserve_is_for_clients_that_have_none_running():
    queue = filled(FairQueue(1, reserve=1), *"aab")
    assert [queue.take(), queue.take(), queue.take()] == ["a0", "b2", None]
    queue.done("b")
    assert queue.take() is None
    queue.done("a")
    assert queue.take() == "a1"


def test_interactive_items_come_first():
    queue = filled(FairQueue(1), *"bbb", urgency=Urgency.BATCH)
    filled(queue, *"aaaaaa")
    assert [item[0] for item in started(queue)] == [*"aaaaaa", *"bbb"]


def test_live_items_come_after_interactive_ones_and_before_batches():
    queue = filled(FairQueue(1), *"b", urgency=Urgency.BATCH)
    filled(queue, *"cd", urgency=Urgency.LIVE)
    filled(queue, *"a")
    assert [item[0] for item in started(queue)] == [*"acdb"]


def test_live_items_leave_the_reserve_to_others():
    queue = filled(FairQueue(1, reserve=1), *"abc", urgency=Urgency.LIVE)
    assert [queue.take(), queue.take()] == ["a0", None]
    filled(queue, "d")
    assert [queue.take(), queue.take()] == ["d0", None]


def test_an_item_that_has_waited_for_long_is_overtaken_no_more():
    seconds = [0.0]
    queue = filled(FairQueue(1, clock=lambda: seconds[0]), "b", urgency=Urgency.BATCH)
    seconds[0] = 20.0
    filled(queue, *"aa")
    filled(queue, "c", urgency=Urgency.LIVE)
    assert queue.take() == "a0"
    queue.done("a")
    seconds[0] = 40.0
    assert started(queue) == ["b0", "a1", "c0"]


def test_an_item_that_is_hurried_keeps_its_age():
    seconds = [0.0]
    queue = filled(FairQueue(1, clock=lambda: seconds[0]), "b", urgency=Urgency.BATCH)
    seconds[0] = 31.0
    filled(queue, "a", urgency=Urgency.LIVE)
    queue.hurry("b0", Urgency.LIVE)
    assert queue.order() == ["b0", "a0"]


def test_an_item_that_is_hurried_waits_behind_the_items_of_its_urgency():
    seconds = [0.0]
    queue = filled(FairQueue(1, clock=lambda: seconds[0]), "a", urgency=Urgency.BATCH)
    seconds[0] = 10.0
    queue.put("a1", Caller("a", urgency=Urgency.LIVE))
    seconds[0] = 20.0
    queue.hurry("a0", Urgency.LIVE)
    assert queue.order() == ["a1", "a0"]


def test_the_turn_of_a_client_that_has_gone_is_remembered():
    queue = filled(FairQueue(1), *"bc")
    assert started(queue) == ["b0", "c1"]
    filled(queue, *"cb")
    assert queue.order() == ["b1", "c0"]


def test_the_order_agrees_with_the_next_starts():
    queue = filled(FairQueue(4), *"aabbb")
    queue.put("a of a batch", Caller("a", urgency=Urgency.BATCH))
    queue.put("b of a batch", Caller("b", urgency=Urgency.BATCH))
    expected = queue.order()
    assert [queue.take() for _ in range(4)] == expected[:4]


def test_batches_leave_the_reserve_to_others():
    queue = filled(FairQueue(1, reserve=1), *"ab", urgency=Urgency.BATCH)
    assert [queue.take(), queue.take()] == ["a0", None]


def test_the_order_is_the_one_in_which_items_start():
    queue = filled(FairQueue(1), *"aaaab", *"cc")
    for item in ("a of a batch", "d of a batch"):
        queue.put(item, Caller(item[0], urgency=Urgency.BATCH))
    queue.take()
    expected = queue.order()
    assert len(expected) == len(queue) == 8
    assert expected == ["b4", "c5", "a1", "c6", "a2", "a3", "d of a batch", "a of a batch"]
    queue.done("a")
    assert queue.take() == expected[0]


def test_what_is_removed_does_not_start():
    queue = filled(FairQueue(1), *"ab")
    assert queue.remove("a0")
    assert not queue.remove("a0")
    assert started(queue) == ["b1"]
    assert len(queue) == 0


def test_one_client_gets_half_of_the_places():
    places = Places(10, "jobs")
    for _ in range(5):
        places.take("a")
    with pytest.raises(TooManyRequests, match="5 jobs of this client are waiting"):
        places.take("a")
    for _ in range(2):
        places.take("b")
    with pytest.raises(TooManyRequests):
        places.take("a")
    places.take("c")
    places.give_back("a")
    places.give_back("a")
    places.take("a")


def test_no_place_is_a_fault_of_the_server():
    places = Places(1, "jobs")
    with places.place("a"), places.place("b"):
        with pytest.raises(QueueFull, match="2 jobs are waiting, which is the limit"):
            places.take("c")
        with pytest.raises(QueueFull):
            places.take("a")
    places.take("b")


def test_a_client_that_holds_none_gets_a_place():
    places = Places(20, "jobs")
    for client in map(str, range(19)):
        with pytest.raises((TooManyRequests, QueueFull)):
            while True:
                places.take(client)
    places.take("late")


def test_a_turn_comes_when_a_slot_is_free():
    turns, begun, end = Turns(1), threading.Event(), threading.Event()
    order = []

    def work(client):
        with turns.turn(Caller(client)):
            order.append(client)
            begun.set()
            end.wait()

    first = threading.Thread(target=work, args=("a",))
    first.start()
    begun.wait()
    others = [threading.Thread(target=work, args=(client,)) for client in ("a", "b")]
    for each in others:
        each.start()
    end.set()
    for each in (first, *others):
        each.join()
    assert sorted(order) == ["a", "a", "b"]
