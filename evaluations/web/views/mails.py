"""Settings for a person's mails: which kinds, and the address."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from evaluations.models import PersonalSettings
from evaluations.people.languages import in_language
from evaluations.people.mails import save_settings
from evaluations.web.forms.members import MailSettingsForm


@login_required
def mail_settings(request: HttpRequest) -> HttpResponse:
    return in_language(request, lambda: _mail_settings(request))


def _mail_settings(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    chosen = PersonalSettings.objects.filter(user=request.user).first() or PersonalSettings()
    names = ("mails_work", "mails_deadline", "mails_digest")
    initial = {"email": request.user.email} | {name: getattr(chosen, name) for name in names}
    form = MailSettingsForm(request.POST or None, initial=initial)
    if form.is_valid():
        save_settings(request.user, **form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect("evaluations:mail_settings")
    status = 422 if form.errors else 200
    return render(request, "evaluations/mail_settings.html", {"form": form}, status=status)
