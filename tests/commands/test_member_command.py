"""`manage.py member` gives, changes and takes a role."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from evaluations.models import Membership, Project

pytestmark = pytest.mark.django_db


def test_a_role_is_given_changed_and_taken(
    project: Project, make_user: Callable[..., User]
) -> None:
    make_user("ann")

    call_command("member", "small", "ann", "annotator")
    first = Membership.objects.get().role
    call_command("member", "small", "ann", "viewer")
    second = Membership.objects.get().role
    call_command("member", "small", "ann", "none")

    assert (first, second) == ("annotator", "viewer")
    assert not Membership.objects.exists()


def test_an_unknown_user_is_named(project: Project) -> None:
    with pytest.raises(CommandError, match="no user 'nobody'"):
        call_command("member", "small", "nobody", "viewer")
