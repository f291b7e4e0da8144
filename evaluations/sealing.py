"""Encrypt stored secrets (endpoint keys) under the site's secret key."""

import base64

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class SealError(ValueError):
    """An encrypted text that cannot be decrypted, because the site's secret key has changed."""


class KeyNameError(SealError):
    """A variable that keys may not be read from; treated like a key that cannot be decrypted."""


def seal(text: str) -> str:
    """Encrypt a text for the database."""
    return _box().encrypt(text.encode()).decode("ascii")


def unseal(sealed: str) -> str:
    """Decrypt a text.

    Raises:
        SealError: it was encrypted under another secret key.
    """
    try:
        return _box().decrypt(sealed.encode("ascii")).decode()
    except InvalidToken:
        raise SealError(
            "The stored key cannot be decrypted because the site's secret key has changed. Enter "
            "the key again."
        ) from None


def fingerprint() -> str:
    """A short text by which two sites can see whether they have the same secret key."""
    return _derived(b"geval_site fingerprint", length=8).hex()


def _box() -> Fernet:
    return Fernet(base64.urlsafe_b64encode(_derived(b"geval_site endpoint keys", length=32)))


def _derived(purpose: bytes, *, length: int) -> bytes:
    return HKDF(SHA256(), length=length, salt=None, info=purpose).derive(
        settings.SECRET_KEY.encode()
    )
