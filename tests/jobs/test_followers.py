"""Test the followers of a job: the order in which streams and requests of one follower end."""

from explorer.jobs.followers import Followers


def test_a_follower_that_polls_outlasts_its_earlier_stream():
    """A server may notice the end of a stream after the request that takes its place."""
    followers = Followers()
    followers.begin_stream("tab")
    followers.poll("tab")
    assert not followers.end_stream("tab")
    assert "tab" in followers
    followers.begin_stream("tab")
    assert followers.end_stream("tab")
    assert "tab" not in followers


def test_a_follower_that_only_submitted_ends_with_its_stream():
    followers = Followers()
    followers.join("tab")
    followers.begin_stream("tab")
    followers.begin_stream("tab")
    assert not followers.end_stream("tab")
    assert followers.end_stream("tab")
    followers.poll("tab")
    assert followers.leave("tab") == 0
    followers.begin_stream("tab")
    assert followers.end_stream("tab")
