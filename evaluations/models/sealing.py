"""Encrypt stored secrets (endpoint keys) under the site's secret key, and sign what the site
issues."""

import base64
import hashlib
import hmac

from cryptography.exceptions import InvalidSignature
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class SealError(ValueError):
    """An encrypted text that cannot be decrypted, because the site's secret key has changed."""


class KeyNameError(SealError):
    """Keys may not be read from this variable; treated like a key that cannot be decrypted."""


def seal(text: str) -> str:
    """Encrypt a text for the database."""
    return _box().encrypt(text.encode()).decode("ascii")


def unseal(sealed: str) -> str:
    """Decrypt a text.

    Raises:
        SealError: the text was encrypted under another secret key.
    """
    try:
        return _box().decrypt(sealed.encode("ascii")).decode()
    except InvalidToken:
        raise SealError(
            "The stored key cannot be decrypted because the site's secret key has changed. Enter "
            "the key again."
        ) from None


def fingerprint() -> str:
    """Return a short text by which two sites can see whether they have the same secret key."""
    return _derived(b"geval_site fingerprint", length=8).hex()


def keyed_digest(purpose: str, content: str) -> str:
    """Return a digest whose content cannot be guessed without the site's secret key."""
    key = _derived(f"geval_site {purpose}".encode(), length=32)
    return hmac.new(key, content.encode(), hashlib.sha256).hexdigest()


def sign(content: bytes) -> str:
    """Return the site's signature of the content (Ed25519), as base64."""
    return base64.b64encode(_signing_key().sign(content)).decode("ascii")


def public_key() -> str:
    """Return the public key that verifies this site's signatures, as base64."""
    return base64.b64encode(_signing_key().public_key().public_bytes_raw()).decode("ascii")


def is_signed(content: bytes, signature: str, key: str) -> bool:
    """Whether a signature of the content was made with a public key's private key."""
    try:
        owner = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
        owner.verify(base64.b64decode(signature, validate=True), content)
    except (ValueError, InvalidSignature):
        return False
    return True


def _signing_key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(_derived(b"geval_site certificates", length=32))


def _box() -> Fernet:
    return Fernet(base64.urlsafe_b64encode(_derived(b"geval_site endpoint keys", length=32)))


def _derived(purpose: bytes, *, length: int) -> bytes:
    return HKDF(SHA256(), length=length, salt=None, info=purpose).derive(
        settings.SECRET_KEY.encode()
    )
