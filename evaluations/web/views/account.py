"""A person's own pages: tokens for the HTTP API, language, mails, and a forgotten password."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from evaluations.models import ApiToken, PersonalSettings
from evaluations.people.languages import choose_language, in_language
from evaluations.people.mails import save_settings
from evaluations.people.waking import MessageLostError, wake_for_password_reset
from evaluations.web.forms.members import MailSettingsForm
from evaluations.web.forms.projects import TokenForm
from evaluations.web.notices import show_form


@login_required
def token_list(request: HttpRequest) -> HttpResponse:
    """The tokens with a form for a new one, which is shown only in this response."""
    form = TokenForm(request.POST or None, user=request.user)
    token = ""
    if form.is_valid():
        token = ApiToken.objects.issue(user_id=request.user.pk or 0, **form.cleaned_data)
        form = TokenForm(user=request.user)
    tokens = ApiToken.objects.filter(user=request.user.pk).select_related("project")
    context = {"tokens": tokens, "form": form, "token": token}
    return show_form(request, "evaluations/token_list.html", context)


@require_POST
@login_required
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    get_object_or_404(ApiToken, user=request.user.pk, pk=pk).delete()
    return redirect("evaluations:token_list")


@require_POST
def language_choose(request: HttpRequest) -> HttpResponse:
    """Store the chosen language, and redirect to the page."""
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
        back = reverse("evaluations:project_list")
    response = HttpResponseRedirect(back)
    choose_language(request, response, request.POST.get("language", ""))
    return response


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


class ResetForm(PasswordResetForm):
    """Leaves everything that depends on the address to a worker."""

    def save(
        self,
        *_args: Any,
        request: HttpRequest | None = None,
        use_https: bool = False,
        **_options: Any,
    ) -> None:
        assert request is not None
        wake_for_password_reset(
            self.cleaned_data["email"], domain=request.get_host(), use_https=use_https
        )


class ResetView(PasswordResetView):
    form_class = ResetForm

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        try:
            return super().form_valid(form)
        except MessageLostError:
            form.add_error(None, "No mail can be sent at the moment. Try again in some minutes.")
            return self.form_invalid(form)
