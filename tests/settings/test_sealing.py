"""Keys are sealed in the database: unreadable there, and after the secret key has changed."""

import pytest
from django.test import override_settings

from evaluations.models.sealing import SealError, seal, unseal


def test_a_sealed_key_does_not_show_and_is_never_sealed_the_same_way() -> None:
    assert "sk-secret" not in seal("sk-secret")
    assert seal("sk-secret") != seal("sk-secret")


def test_another_secret_key_opens_nothing() -> None:
    sealed = seal("sk-secret")

    with (
        override_settings(SECRET_KEY="x" * 60),
        pytest.raises(SealError, match="Enter the key again"),
    ):
        unseal(sealed)
