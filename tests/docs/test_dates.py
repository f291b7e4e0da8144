"""All dates on pages have one format, which the settings state."""

import datetime
import re

from django.template import Context, Template

from tests.conftest import CHECKOUT

# For machines; the settings' own; and a time of today.
ALLOWED = {"c", "DATETIME_FORMAT", "H:i:s", "e"}


def test_templates_leave_the_format_of_dates_to_the_settings() -> None:
    written = {
        (str(path.relative_to(CHECKOUT)), form)
        for path in sorted((CHECKOUT / "templates").rglob("*.html"))
        for form in re.findall(r"(?:\|(?:date|time):|{% now )[\"']([^\"']+)", path.read_text())
    }

    assert written
    assert [one for one in written if one[1] not in ALLOWED] == []


def test_a_date_reads_as_the_report_has_it() -> None:
    moment = datetime.datetime(2026, 3, 5, 9, 7, tzinfo=datetime.UTC)
    page = Template("{{ at|date }}; {{ at|date:'DATETIME_FORMAT' }}; {{ at }}")

    assert (
        page.render(Context({"at": moment})) == "5 Mar 2026; 5 Mar 2026, 09:07; 5 Mar 2026, 09:07"
    )
