"""Page of a user's own tokens for the HTTP API: create, show once, revoke."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from evaluations.models import ApiToken
from evaluations.models.tokens import new_token
from evaluations.web.forms.tokens import TokenForm


@login_required
def token_list(request: HttpRequest) -> HttpResponse:
    """The tokens with a form for a new one, which is shown only in this response."""
    form = TokenForm(request.POST or None, user=request.user)
    token = ""
    if form.is_valid():
        token, digest = new_token()
        ApiToken.objects.create(user_id=request.user.pk or 0, digest=digest, **form.cleaned_data)
        form = TokenForm(user=request.user)
    tokens = ApiToken.objects.filter(user=request.user.pk).select_related("project")
    context = {"tokens": tokens, "form": form, "token": token}
    return render(
        request, "evaluations/token_list.html", context, status=422 if form.errors else 200
    )


@require_POST
@login_required
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    get_object_or_404(ApiToken, user=request.user.pk, pk=pk).delete()
    return redirect("evaluations:token_list")
