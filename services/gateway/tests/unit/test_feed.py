from gateway.events.feed import MOST_WAITING, FeedSubscription


async def test_a_reader_who_takes_nothing_is_let_go_instead_of_filling_memory():
    subscription = FeedSubscription({})
    for _ in range(MOST_WAITING):
        subscription.add(None)
    assert not subscription.has_ended
    subscription.add(None)
    assert subscription.has_ended
    await subscription.taken(60)  # returns at once


async def test_nothing_to_take_is_a_reason_for_a_heartbeat():
    assert await FeedSubscription({}).taken(0) == []
