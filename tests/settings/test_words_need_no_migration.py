"""Words about a judge's settings can change without a migration: models know limits, not titles."""

import pytest

from evaluations.models import Judge
from geval.llm.judge_settings import JudgeSettings, declared


@pytest.mark.parametrize("name", JudgeSettings.model_fields)
def test_a_title_is_not_among_what_a_migration_has(name: str) -> None:
    _, _, _, options = Judge._meta.get_field(name).deconstruct()

    assert "verbose_name" not in options
    assert str(declared(name).description) not in str(options)
