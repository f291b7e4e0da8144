"""Password reset mails, sent by a worker."""

from hashlib import sha256

from django.contrib.auth.forms import PasswordResetForm

from evaluations.models import RequestCount

# Per address, over all workers, because anyone who knows the address can request mails.
MOST_MAILS, WITHIN_SECONDS = 5, 3600


def send_reset_mails(email: str, *, domain: str, use_https: bool) -> None:
    """Send a link to the account with that address, at most five per hour."""
    address = sha256(f"password reset {email.lower()}".encode()).hexdigest()
    sent, _left = RequestCount.objects.take(address, share=1, seconds=WITHIN_SECONDS)
    if sent > MOST_MAILS:
        return
    form = PasswordResetForm({"email": email})
    if form.is_valid():
        form.save(domain_override=domain, use_https=use_https)
