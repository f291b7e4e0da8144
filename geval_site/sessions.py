"""Django's sessions and users, each read by a statement that is put together once: every request reads both."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from geval_site.joined import JoinedQuery

_SESSIONS = JoinedQuery({"s": Session}, "FROM django_session s WHERE s.session_key = %s AND s.expire_date > %s")
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
    """Django's users with their passwords."""

    def get_user(self, user_id: Any) -> User | None:
        row = _USERS.first([user_id])
        return row[0] if row and self.user_can_authenticate(row[0]) else None
