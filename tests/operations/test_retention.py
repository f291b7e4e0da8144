"""Raw replies and audit entries go when they are older than the site keeps them; scores stay."""

import datetime

import pytest
from django.core.management import call_command
from django.utils import timezone

from evaluations.judging.runs.results import stored_replies
from evaluations.models import AuditEntry, EvaluationRun, ModelReply, Project, Score
from evaluations.operations import retention
from evaluations.operations.retention import Due, Policy, due, tidy

pytestmark = pytest.mark.django_db
CHOICES = [{"text": "4, because of the harbour", "finish_reason": "stop"}]


def days_ago(days: int) -> datetime.datetime:
    return timezone.now() - datetime.timedelta(days=days)


@pytest.fixture
def replies(run: EvaluationRun) -> list[ModelReply]:
    """Two replies of the run, one of them old, each to its item."""
    made = []
    for age, item in zip((100, 1), run.items.filter(state="done"), strict=False):
        reply = ModelReply.objects.create(
            project=run.project, request_key=f"key {age}", choices=CHOICES, prompt_tokens=7,
            created_at=days_ago(age),
        )  # fmt: skip
        item.reply = reply
        item.save()
        made.append(reply)
    return made


@pytest.fixture
def entries(project: Project) -> None:
    for age in (400, 380, 2):
        AuditEntry.objects.create(
            project=project, user_name="olga", action=f"{age}", created_at=days_ago(age)
        )
    AuditEntry.objects.create(user_name="mallory", action="login", created_at=days_ago(500))


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


def test_everything_is_kept_unless_the_site_says_otherwise(
    replies: list[ModelReply], entries: None
) -> None:
    assert tidy(retention.policy_of_site()) == []
    assert actions() == ["400", "380", "2", "login"]


def test_old_replies_go_and_their_scores_and_counts_stay(replies: list[ModelReply]) -> None:
    scores = list(Score.objects.values())
    old, young = replies

    removed = tidy(Policy(replies=30, audit=0))

    old.refresh_from_db()
    young.refresh_from_db()
    assert removed == [Due(old.project_id, "small", 1, 0)]
    assert (old.choices, old.prompt_tokens) == ([], 7)
    assert old.removed_at is not None
    assert (young.choices, young.removed_at) == (CHOICES, None)
    assert list(Score.objects.values()) == scores
    assert tidy(Policy(replies=30, audit=0)) == []


def test_a_removed_reply_answers_no_later_question(replies: list[ModelReply]) -> None:
    tidy(Policy(replies=30, audit=0))

    found = stored_replies(replies[0].project_id, ["key 100", "key 1"])

    assert list(found) == ["key 1"]


def test_old_entries_go_and_the_log_says_so(project: Project, entries: None) -> None:
    removed = tidy(Policy(replies=0, audit=365))

    assert removed == [Due(None, "", 0, 1), Due(project.pk, "small", 0, 2)]
    assert actions() == ["2", "retention", "retention"]
    notes = AuditEntry.objects.filter(project=project, action="retention")
    begin = f"{days_ago(365):%Y-%m-%d}"
    assert [note.detail for note in notes] == [f"removed 2 audit entries from before {begin}"]


def test_notes_of_removals_go_with_others_and_cause_none(project: Project) -> None:
    AuditEntry.objects.create(project=project, action="retention", created_at=days_ago(400))
    alone = tidy(Policy(replies=0, audit=365))
    AuditEntry.objects.create(project=project, action="x", created_at=days_ago(400))

    tidy(Policy(replies=0, audit=365))

    assert alone == []
    assert actions() == ["retention"]
    assert "removed 1 audit entry" in AuditEntry.objects.get().detail


def test_the_command_says_what_would_go_and_removes_it(
    replies: list[ModelReply], entries: None, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("tidy", "--dry-run", "--replies", "30", "--audit", "365")
    would = capsys.readouterr().out
    kept = (ModelReply.objects.filter(removed_at=None).count(), AuditEntry.objects.count())

    call_command("tidy", "--replies", "30", "--audit", "365")
    did = capsys.readouterr().out

    assert "small: 1 raw reply, 2 audit entries" in would
    assert "3 audit entries would be removed" in would
    assert kept == (2, 4)
    assert "1 raw reply and 3 audit entries removed." in did
    assert due(Policy(replies=30, audit=365)) == []
