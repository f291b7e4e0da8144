"""The language of annotators' pages: the person's choice, else the campaign's language, else the
browser's. Everything outside `in_language` is in English."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.formats import get_format, number_format
from django.utils.translation.trans_real import parse_accept_lang_header

from evaluations.models import PersonalSettings
from geval.texts.in_languages import name_in, part_in
from geval.texts.numbers import thin, with_separator


def in_language(
    request: HttpRequest,
    view: Callable[[], HttpResponse],
    *,
    own: str | None = None,
    campaign: str = "",
) -> HttpResponse:
    """Return a view's response in the annotator's language.

    Args:
        own: the signed-in person's choice, "" for none; None to look it up.
        campaign: the language of the campaign, "" if it leaves that to the browser.
    """
    language = chosen_language(request, own=own, campaign=campaign)
    request.languages = settings.LANGUAGES  # type: ignore[attr-defined]
    with translation.override(language):
        response = view()
    response.headers["Content-Language"] = language
    patch_vary_headers(response, ("Accept-Language", "Cookie"))
    return response


def chosen_language(request: HttpRequest, *, own: str | None = None, campaign: str = "") -> str:
    """Return one of the site's languages; see `in_language`."""
    if own is None:
        own = own_language(request)
    for code in (own, campaign, *_of_browser(request)):
        if supported := _supported(code):
            return supported
    return settings.LANGUAGE_CODE


def own_language(request: HttpRequest) -> str:
    """Return the language that the person of a request chose, stored with the account or else in a
    cookie; "" for none."""
    if request.user.is_authenticated:
        return language_of(request.user.pk)
    return request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")


def language_of(user_id: int) -> str:
    """Return the language that a person with an account chose; "" for none."""
    chosen = PersonalSettings.objects.filter(user=user_id).values_list("language", flat=True)
    return chosen.first() or ""


def choose_language(request: HttpRequest, response: HttpResponse, language: str) -> None:
    """Store the chosen language until another is chosen; unknown languages are ignored."""
    if language not in dict(settings.LANGUAGES):
        return
    if request.user.is_authenticated:
        PersonalSettings.objects.update_or_create(
            user_id=request.user.pk, defaults={"language": language}
        )
        return
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
        samesite="Lax",
    )


def counted(number: int) -> str:
    """Format a whole number with thousands separators as in the language."""
    if translation.get_language() == settings.LANGUAGE_CODE:
        return thin(number)
    return number_format(number, force_grouping=True)


def with_point(number: float | None) -> str:
    """Format a number with no more decimals than it has, and the language's decimal separator; None
    is the answer "not applicable"."""
    if number is None:
        return translation.gettext("not applicable")
    return with_separator(number, str(get_format("DECIMAL_SEPARATOR")))


def own_words(text: str) -> str:
    """Return a text for annotators in the page's language, if its author provided that language."""
    return part_in(text, translation.get_language() or "")


def own_name(name: str) -> str:
    """Return a name, title or question in the page's language, if its author provided that
    language."""
    return name_in(name, translation.get_language() or "")


def _of_browser(request: HttpRequest) -> list[str]:
    """Return the languages that a browser accepts, best first."""
    header = request.headers.get("Accept-Language", "")
    return [code for code, _ in parse_accept_lang_header(header)]


def _supported(code: str) -> str:
    """Return the site's language for a code such as `pt-br` or `zh-CN`; "" if there is none."""
    if not code or code == "*":
        return ""
    try:
        return translation.get_supported_language_variant(code)
    except LookupError:
        return ""
