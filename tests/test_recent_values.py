"""The cache of the values used last."""

from __future__ import annotations

from ioi_eval.recent_values import RecentValues


def test_the_values_used_last_are_kept_up_to_the_size() -> None:
    """A value that was used stays longer than one that was put in later and not used."""
    values: RecentValues[str, int] = RecentValues(3)
    for key in "abc":
        values.put(key, ord(key))
    assert values.get("a") == ord("a")
    assert values.put("d", ord("d")) == ord("d")
    assert [values.get(key) for key in "abcd"] == [ord("a"), None, ord("c"), ord("d")]


def test_a_value_larger_than_the_cache_is_kept_until_the_next() -> None:
    """At least one value is kept."""
    values: RecentValues[str, str] = RecentValues(10)
    values.put("large", "x", 100)
    assert (values.get("large"), values.size) == ("x", 100)
    values.put("small", "y", 1)
    assert (values.get("large"), values.get("small"), values.size) == (None, "y", 1)


def test_a_key_that_is_put_in_twice_counts_once() -> None:
    """Two tasks may make the same value at the same time."""
    values: RecentValues[str, str] = RecentValues(10)
    values.put("key", "x", 4)
    values.put("key", "x", 4)
    assert values.size == 4
