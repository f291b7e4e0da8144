"""The messages of a task page's scripts, in the language of the page. The scripts fill in names in
braces."""

from django.utils.translation import gettext as _


def script_words() -> dict[str, str]:
    """Return the messages by the names that `static/js/annotate/words.js` looks up."""
    return {
        "open_item": _("Open that item"),
        "waiting": _("No connection. Answers kept in this browser, to be sent later: {count}"),
        "offline": _("No connection: what you type is kept in this browser."),
        "signed_out": _(
            "You are signed out. Sign in again in another tab; what you answered is kept in this"
            " browser and will be sent then."
        ),
        "other_person": _(
            "Somebody else is signed in now. What you answered is kept in this browser until you"
            " sign in again."
        ),
        "refused": _("The server refused the answer. It is kept in this browser."),
        "no_answer": _("The server did not answer; try again."),
        "saved": _("Saved at {time}"),
        "submitted": _("Submitted at {time}"),
        "corrected": _("Your correction is saved."),
        "skipped": _("Skipped"),
        "answer_first": _("Answer “{question}” first."),
        "same": _("The best and the worst cannot be the same."),
        "no_earlier": _("There is no answer before this one."),
        "new_item": _("New item"),
        "matches": _("Matches: {count}"),
        "remove": _("Remove"),
        "key_taken": _("This key is taken."),
    }
