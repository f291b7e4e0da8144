"""Password resets: the page answers the same for every address; a worker looks up the account."""

from typing import Any

from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.views import PasswordResetView
from django.http import HttpRequest, HttpResponse

from evaluations.people.waking import MessageLostError, wake_for_password_reset


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
