"""An address in the environment that cannot be read is named, and nothing of it is printed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from geval_site.databases import broker_options, database_settings
from geval_site.email import email_settings


def database(url: str) -> object:
    return database_settings(url, Path("/nowhere"))


def broker(url: str) -> object:
    return broker_options(url, {})


@pytest.mark.parametrize(
    ("read", "variable", "url"),
    [
        (database, "DATABASE_URL", "postgresql://u:%zzSECRET@h/d"),
        (database, "DATABASE_URL", "postgresql://u:SECRET pw@h/d"),
        (database, "DATABASE_URL", "postgresql://u:p@h/d?SECRET=1"),
        (broker, "CELERY_BROKER_URL", "amqp://u:SECRET/x@h//"),
        (broker, "CELERY_BROKER_URL", "redis://:SECRET#x@h/0"),
        (email_settings, "GEVAL_EMAIL_URL", "smtp://u:SECRET/x@h:25"),
        (email_settings, "GEVAL_EMAIL_URL", "smtp+tls://u:SEC[RET@h"),
        (email_settings, "GEVAL_EMAIL_URL", "SECRET:password@h"),
    ],
)
def test_no_part_of_an_address_that_cannot_be_read_is_printed(
    read: Callable[[str], object], variable: str, url: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"{variable} cannot be read") as error:
        read(url)

    assert "SEC" not in str(error.value)
    assert "%2F" in str(error.value)
    assert error.value.__context__ is None or error.value.__suppress_context__


@pytest.mark.parametrize(
    "url", ["redis://:p@h:6379/0", "amqp://u:p%2F@h//", "sentinel://a:1;sentinel://b:1"]
)
def test_a_broker_that_can_be_read_is_taken_as_it_is(url: str) -> None:
    assert broker_options(url, {})[0] == url
