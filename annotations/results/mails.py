"""Mails to annotators: new work, a campaign that ends soon, and a weekly summary."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from annotations.models import (
    Assignment,
    AssignmentState,
    Campaign,
    CampaignState,
    Review,
    ReviewAction,
)
from annotations.planning.waiting import HAVE_WORK, RETURNED
from evaluations.models import Mail, MailKind
from evaluations.people.languages import counted, language_of
from evaluations.people.mails import claim, ending, is_wanted, quoted, send, site_address
from geval_site.sql import execute_sql, fetch_rows

# How long before a campaign's end annotators are reminded.
SOON = timedelta(days=2)
WEEK = timedelta(days=7)
# People with an address who can annotate something in an open campaign.
_MAILED = f"""
    SELECT n.user_id, c.id AS campaign_id, c.deadline,
           coalesce(p.mails_work, true) AS mails_work,
           coalesce(p.mails_deadline, true) AS mails_deadline,
           coalesce(p.mails_digest, true) AS mails_digest
    {HAVE_WORK} AND u.email <> ''
"""
_NOTE = f"""
    WITH work AS ({_MAILED})
    INSERT INTO evaluations_mail (user_id, kind, about, campaign)
    SELECT user_id, 'work', 'campaign ' || campaign_id, campaign_id FROM work WHERE mails_work
    UNION ALL
    SELECT user_id, 'deadline', 'campaign ' || campaign_id || ' ' || deadline, campaign_id
    FROM work WHERE mails_deadline AND deadline < %(soon)s
    UNION ALL
    SELECT DISTINCT user_id, 'digest', %(week)s, NULL::bigint FROM work WHERE mails_digest
    UNION ALL
    SELECT DISTINCT work.user_id, 'work', %(today)s, NULL::bigint
    FROM work JOIN annotations_assignment a USING (campaign_id)
    JOIN annotations_annotator n ON n.id = a.annotator_id AND n.user_id = work.user_id
    JOIN annotations_review v ON v.assignment_id = a.id
    WHERE mails_work AND {RETURNED} AND v.at > coalesce((
        SELECT max(m.created_at) FROM evaluations_mail m
        WHERE m.user_id = work.user_id AND m.about LIKE 'returned %%'), '-infinity')
    ON CONFLICT (user_id, kind, about) DO NOTHING
"""


def note_due_mails() -> None:
    """Queue the mails that are due and were not sent before; none if the site sends no mail."""
    if not settings.SENDS_MAIL:
        return
    now = timezone.now()
    about: dict[str, Any] = {"now": now, "soon": now + SOON, "week": f"week {now:%G-%V}"}
    about["today"] = f"returned {now:%Y-%m-%d}"
    execute_sql(_NOTE, about)


def send_work_mail(mail_id: int) -> None:
    """Send a queued mail, unless another worker does or it is no longer wanted."""
    mail = claim(mail_id)
    if mail is None:
        return
    campaign = (
        Campaign.objects.filter(pk=mail.campaign).select_related("project").first()
        if mail.campaign
        else None
    )
    is_over = bool(mail.campaign) and (campaign is None or campaign.state != CampaignState.OPEN)
    if is_over or not is_wanted(mail):
        mail.delete()
        return
    language = language_of(mail.user_id) or (campaign.language if campaign else "")
    with translation.override(language or settings.LANGUAGE_CODE):
        if campaign:
            subject, lines = _of_campaign(mail, campaign)
        else:
            subject, lines = (_of_week if mail.kind == MailKind.DIGEST else _of_returned)(mail)
        lines += ending()
    send(mail.user.email, subject, lines)
    Mail.objects.filter(pk=mail_id).update(sent_at=timezone.now())


def _of_campaign(mail: Mail, campaign: Campaign) -> tuple[str, list[str]]:
    name = {"campaign": quoted(campaign.name)}
    if mail.kind == MailKind.DEADLINE and campaign.deadline:
        moment = date_format(timezone.localtime(campaign.deadline), "DATETIME_FORMAT")
        subject = _("Ends on %(moment)s: %(campaign)s") % (name | {"moment": moment})
        line = _("Some of its items still wait for your answers.")
    else:
        subject = _("There is work for you: %(campaign)s") % name
        line = _("Items of %(campaign)s wait for your answers.") % name
    return subject, [line, *_link(campaign)]


def _of_week(mail: Mail) -> tuple[str, list[str]]:
    answers = Assignment.objects.filter(
        annotator__user=mail.user_id,
        state=AssignmentState.SUBMITTED,
        submitted_at__gt=timezone.now() - WEEK,
    )
    words = _("Answers that you submitted in the last seven days:")
    lines = [f"{words} {counted(answers.count())}"]
    rows = fetch_rows(
        f"SELECT campaign_id FROM ({_MAILED}) AS w WHERE user_id = %(user)s",
        {"now": timezone.now(), "user": mail.user_id},
    )
    working = [row[0] for row in rows]
    for campaign in Campaign.objects.filter(pk__in=working).select_related("project"):
        name = {"campaign": quoted(campaign.name)}
        waiting = _("Items of %(campaign)s wait for your answers.") % name
        lines.append(" ".join([waiting, *_link(campaign)]))
    return _("Your week of annotating"), lines


def _of_returned(mail: Mail) -> tuple[str, list[str]]:
    """One mail a day for what reviewers returned in all campaigns."""
    newest = Review.objects.filter(assignment__annotator__user=mail.user_id).newest()
    returned = [step.assignment_id for step in newest if step.action == ReviewAction.RETURNED]
    campaigns = Campaign.objects.filter(assignments__in=returned).select_related("project")
    lines = [" ".join([quoted(each.name), *_link(each)]) for each in campaigns.distinct()]
    return _("Answers were returned to you"), lines


def _link(campaign: Campaign) -> list[str]:
    path = reverse("annotations:task_current", args=[campaign.project.slug, campaign.pk])
    return [f"{site_address()}{path}"] if site_address() else []
