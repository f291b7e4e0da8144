"""What ends with a password: its owner's tokens, as somebody else may have made them."""

from typing import Any

from evaluations.models import ApiToken


class TokensEnd:
    """A validator of passwords that accepts each; Django tells validators of every change."""

    def validate(self, password: str, user: Any = None) -> None:
        """Accept the password."""

    def password_changed(self, password: str, user: Any = None) -> None:  # noqa: ARG002
        """End the user's tokens."""
        ApiToken.objects.filter(user=user).delete()

    def get_help_text(self) -> str:
        return ""
