"""What servers say about their rate limits is read from their headers, in each of their formats."""

import datetime
import email.utils

import pytest

from geval.llm.errors import ErrorKind, status_error
from geval.llm.rate_headers import (
    RateAllowance,
    read_rate_headers,
    retry_seconds,
    seconds_until,
)

NOW = datetime.datetime(2026, 3, 1, 12, 0, 0, tzinfo=datetime.UTC).timestamp()


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("1s", 1),
        ("6m0s", 360),
        ("120ms", 0.12),
        ("1h2m3.5s", 3723.5),
        ("2d", 172_800),
        ("7", 7),
        ("2026-03-01T12:00:30Z", 30),
        ("2026-03-01t13:00:30+01:00", 30),
        (f"{NOW + 20:.0f}", 20),
        (f"{1000 * (NOW + 20):.0f}", 20),
        ("2026-03-01T11:00:00Z", 0),
        ("soon", None),
        ("", None),
        ("2026-03-01T12:00:30", None),
        ("5 parsecs", None),
        ("inf", None),
    ],
)
def test_a_reset_may_be_a_duration_a_number_or_a_moment(
    written: str, seconds: float | None
) -> None:
    found = seconds_until(written, now=NOW)

    assert found == (None if seconds is None else pytest.approx(seconds))


def test_openai_names_what_is_left_of_requests_and_tokens() -> None:
    found = read_rate_headers(
        {
            "x-ratelimit-limit-requests": "60",
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": "1m0s",
            "x-ratelimit-limit-tokens": "150000",
            "x-ratelimit-remaining-tokens": "149984",
            "x-ratelimit-reset-tokens": "6ms",
            "retry-after-ms": "20",
        },
        now=NOW,
    )

    assert found.requests == RateAllowance(60, 0, 60)
    assert found.tokens == RateAllowance(150_000, 149_984, 0.006)
    assert found.next_in == pytest.approx(0.02)
    assert found.exhausted() == [RateAllowance(60, 0, 60)]


def test_anthropic_names_the_moment_of_the_reset() -> None:
    found = read_rate_headers(
        {
            "anthropic-ratelimit-requests-limit": "50",
            "anthropic-ratelimit-requests-remaining": "20",
            "anthropic-ratelimit-requests-reset": "2026-03-01T12:00:15Z",
        },
        now=NOW,
    )

    assert found.requests == RateAllowance(50, 20, 15)


def test_the_rate_follows_from_what_is_used_and_the_reset_and_not_from_the_limit() -> None:
    a_minute = RateAllowance(limit=3000, remaining=0, resets_in=60)
    a_second = RateAllowance(limit=50, remaining=10, resets_in=0.8)

    assert (a_minute.per_second, a_second.per_second) == (50, pytest.approx(50))
    assert RateAllowance(limit=50, remaining=50, resets_in=0).per_second is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2),
        ({"retry-after": "1", "retry-after-ms": "20"}, 0.02),
        ({"retry-after": "1", "retry-after-ms": "soon"}, 1),
        ({"retry-after": email.utils.formatdate(NOW + 90, usegmt=True)}, 90),
        ({"retry-after": email.utils.formatdate(NOW - 90, usegmt=True)}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_names_a_time_ahead_or_none(
    headers: dict[str, str], seconds: float | None
) -> None:
    found = retry_seconds(headers, now=NOW)

    assert found == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize("which", ["requests", "tokens"])
def test_a_limit_that_is_used_up_for_hours_is_a_long_wait(which: str) -> None:
    headers = {
        f"x-ratelimit-limit-{which}": "10000",
        f"x-ratelimit-remaining-{which}": "0",
        f"x-ratelimit-reset-{which}": "6h0m0s",
    }

    error = status_error(429, "Daily limit.", base_url="b", model="m", headers=headers)

    assert (error.kind, error.retry_after) == (ErrorKind.LONG_WAIT, 6 * 3600)
    assert "Daily limit." in error.message


@pytest.mark.parametrize("written", ["1e300", f"{60 * 86_400}"])
def test_a_wait_of_months_stops_the_run_but_its_time_is_not_believed(written: str) -> None:
    error = status_error(429, "Later.", base_url="b", model="m", headers={"retry-after": written})

    assert (error.kind, error.retry_after) == (ErrorKind.LONG_WAIT, None)
