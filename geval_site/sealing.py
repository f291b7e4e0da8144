"""Secrets that have to be stored (keys of endpoints) are encrypted under the site's secret key."""

import base64

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class SealError(ValueError):
    """A sealed text that cannot be opened, because the site's secret key is another one now."""


class KeyNameError(SealError):
    """A variable that keys are not read from here; to callers the same as a key that cannot be
    opened."""


def seal(text: str) -> str:
    """Encrypt a text for the database."""
    return _box().encrypt(text.encode()).decode("ascii")


def unseal(sealed: str) -> str:
    """The text again.

    Raises:
        SealError: it was sealed under another secret key.
    """
    try:
        return _box().decrypt(sealed.encode("ascii")).decode()
    except InvalidToken:
        raise SealError(
            "The stored key cannot be opened: the site's secret key has changed since. Enter the"
            " key again."
        ) from None


def _box() -> Fernet:
    derived = HKDF(SHA256(), length=32, salt=None, info=b"geval_site endpoint keys")
    return Fernet(base64.urlsafe_b64encode(derived.derive(settings.SECRET_KEY.encode())))
