"""Django's sessions and users, read by prebuilt statements because every request needs both."""

from typing import Any

import structlog
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils import timezone

from geval_site.demo_logins import is_refused
from geval_site.sql import JoinedQuery

log = structlog.stdlib.get_logger(__name__)
_SESSIONS = JoinedQuery(
    {"s": Session}, "FROM django_session s WHERE s.session_key = %s AND s.expire_date > %s"
)
_USERS = JoinedQuery({"u": User}, "FROM auth_user u WHERE u.id = %s")


class SessionStore(db.SessionStore):
    """Django's sessions in the database."""

    def _get_session_from_db(self) -> Any:
        row = _SESSIONS.first([self.session_key, timezone.now()])
        if row is None:
            self._session_key = None
            return None
        return row[0]


class UserBackend(ModelBackend):
    """Django's users with their passwords; the demo's do not work on a production site."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> Any:
        # Checked after the password, so that the response takes as long as for any other.
        user = super().authenticate(request, username, password, **kwargs)
        if user is not None and is_refused(user.get_username(), password or ""):
            log.warning("demo password refused", account=user.pk)
            return None
        return user

    def get_user(self, user_id: Any) -> User | None:
        row = _USERS.first([user_id])
        return row[0] if row and self.user_can_authenticate(row[0]) else None
