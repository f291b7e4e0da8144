"""Mails to people: shared functions, invitations, and new passwords. Workers send them; nothing is
sent without the setting `GEVAL_EMAIL_URL` or `GEVAL_EMAIL_BACKEND`.
"""

import re
from datetime import timedelta
from hashlib import sha256

from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from evaluations.models import Invitation, Mail, PersonalSettings, RequestCount

# A mail whose worker was lost is retried after a while, and abandoned after several attempts.
TRIES, TRIED_AGAIN = 5, timedelta(minutes=10)
# Each is a mail from the site: a stolen account must not send thousands.
MOST_INVITED = 500
MOST_OF_A_NAME = 60
# A word with a colon and slashes, an "@", or a dot before letters, as "example.org" has.
_LINK = re.compile(r"://|@|＠|[.。．｡]\w*[^\W\d]")
_QUOTES = str.maketrans(dict.fromkeys('“”"', "'"))
_SEPARATORS = re.compile(r"[\s,;<>\"]+")
# Links to reset a password, per address and over all workers, because anyone who knows the address
# can request them.
MOST_RESET_MAILS, RESET_SECONDS = 5, 3600


def site_address() -> str:
    """Return the beginning of addresses in mails; "" if the settings do not define it."""
    host = settings.ALLOWED_HOSTS[0].lstrip(".") if settings.ALLOWED_HOSTS else ""
    return f"https://{host}" if settings.PRODUCTION and host not in ("", "*") else ""


def addresses_in(text: str) -> tuple[list[str], list[str]]:
    """Return the mail addresses in a text or the rows of a CSV file, in order without duplicates,
    and what looks like an address but is invalid. Names and other columns are ignored."""
    addresses: dict[str, str] = {}
    wrong = []
    for word in _SEPARATORS.split(text):
        if "@" not in word:
            continue
        try:
            validate_email(word)
        except ValidationError:
            wrong.append(word)
        else:
            addresses.setdefault(word.lower(), word)
    return list(addresses.values()), wrong


def addresses_to_invite(text: str) -> list[str]:
    """Return the addresses in a text.

    Raises:
        ValidationError: the site sends no mail, or the text has none, invalid ones, or too many.
    """
    if not settings.SENDS_MAIL:
        raise ValidationError("This site sends no mail; its administrator can set it up.")
    addresses, wrong = addresses_in(text)
    if wrong:
        named = ", ".join(wrong[:5])
        raise ValidationError(f"These are no e-mail addresses; nobody was invited: {named}")
    if not addresses:
        raise ValidationError("Give at least one e-mail address.")
    if len(addresses) > MOST_INVITED:
        raise ValidationError(f"Invite at most {MOST_INVITED} people at once.")
    return addresses


def quoted(name: str) -> str:
    """Return a name that users chose, in quotes and without links and addresses: mails are in the
    site's name, and programs make links of both."""
    without = " ".join("…" if _LINK.search(word) else word for word in name.split())
    return f"“{without.translate(_QUOTES)[:MOST_OF_A_NAME]}”"


def send(address: str, subject: str, lines: list[str]) -> None:
    """Send a mail now; line breaks are removed from its subject.

    Raises:
        OSError, smtplib.SMTPException: the mail server did not accept it.
    """
    EmailMessage(" ".join(subject.split()), "\n\n".join(lines) + "\n", to=[address]).send()


def send_invitation_mail(invitation_id: int, link: str, language: str) -> None:
    """Send an invitation to its address, once, while it is open."""
    open_ones = Invitation.objects.open().filter(pk=invitation_id, mailed_at=None)
    invitation = open_ones.exclude(address="").select_related("project", "made_by").first()
    if invitation is None or not settings.SENDS_MAIL:
        return
    if not Invitation.objects.filter(pk=invitation_id, mailed_at=None).update(
        mailed_at=timezone.now()
    ):
        return
    names = {"project": quoted(invitation.project.name), "owner": invitation.made_by}
    with translation.override(language):
        subject = _("Invitation to %(project)s") % names
        until = date_format(timezone.localtime(invitation.expires_at), "DATETIME_FORMAT")
        lines = [
            _("%(owner)s invites you to %(project)s.") % names,
            _("The link works once, until %(moment)s:") % {"moment": until},
            link,
        ]
    try:
        send(invitation.address, subject, lines)
    except Exception:
        Invitation.objects.filter(pk=invitation_id).update(mailed_at=None)
        raise


def claim(mail_id: int) -> Mail | None:
    """Claim a mail for sending; None if another worker has it or it was sent."""
    now = timezone.now()
    free = Q(tried_at=None) | Q(tried_at__lt=now - TRIED_AGAIN)
    claimed = Mail.objects.filter(free, pk=mail_id, sent_at=None, tries__lt=TRIES)
    if not claimed.update(tried_at=now, tries=F("tries") + 1):
        return None
    return Mail.objects.select_related("user").get(pk=mail_id)


def unsent() -> list[int]:
    """Return the ids of mails that no worker is sending."""
    free = Q(tried_at=None) | Q(tried_at__lt=timezone.now() - TRIED_AGAIN)
    return list(
        Mail.objects.filter(free, sent_at=None, tries__lt=TRIES).values_list("pk", flat=True)
    )


def is_wanted(mail: Mail) -> bool:
    """Whether the recipient still has an address and wants mails of this kind."""
    if not (mail.user.is_active and mail.user.email and settings.SENDS_MAIL):
        return False
    chosen = PersonalSettings.objects.filter(user=mail.user).first() or PersonalSettings()
    return bool(getattr(chosen, f"mails_{mail.kind}"))


def ending() -> list[str]:
    """Return the last lines of mails that can be switched off."""
    address = site_address()
    page = reverse("evaluations:mail_settings")
    return [f"{_('Choose which mails you get:')} {address}{page}"] if address else []


def save_settings(user: User, email: str, **mails: bool) -> None:
    """Store a person's address and the kinds of mails that they want."""
    user.email = email
    user.save(update_fields=["email"])
    PersonalSettings.objects.update_or_create(user=user, defaults=mails)


def send_reset_mails(email: str, *, domain: str, use_https: bool) -> None:
    """Send a link to the account with that address, at most five per hour."""
    address = sha256(f"password reset {email.lower()}".encode()).hexdigest()
    sent, _left = RequestCount.objects.take(address, share=1, seconds=RESET_SECONDS)
    if sent > MOST_RESET_MAILS:
        return
    form = PasswordResetForm({"email": email})
    if form.is_valid():
        form.save(domain_override=domain, use_https=use_https)
