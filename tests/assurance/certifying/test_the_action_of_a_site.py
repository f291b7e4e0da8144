"""Where something is required, the GitHub Action asks a site for a certificate."""

import pytest

from tests.pipelines.test_the_action_of_a_site import inputs, main
from tests.processes import SiteProcess

__all__ = ["inputs"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


def test_what_is_required_is_certified_by_the_site(
    inputs: dict[str, str], database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    site = SiteProcess(database_url)
    required = {
        "INPUT_SITE": site.address, "INPUT_JUDGE": "near", "INPUT_CRITERION": "coherence",
        "INPUT_REQUIRE": "raters>=4",
    }  # fmt: skip
    try:
        code = main(inputs | required)
    finally:
        site.stop()

    printed = capsys.readouterr().out
    assert code == 1, printed
    assert "near on coherence: not met" in printed
