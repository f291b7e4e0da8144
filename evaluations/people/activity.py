"""What people did in a project, in words; the audit log's names of pages and endpoints are meant
for programs."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache

from evaluations.models import AuditEntry, Project

SHOWN = 6
# Phrases and the names of pages and endpoints; a test checks that none is missing.
_NAMES = {
    "decided a disagreement of annotators": "annotations:adjudication_item",
    "excluded an annotator, or lifted that": "annotations:annotator_exclude",
    "returned answers to an annotator": "annotations:answer_return_all",
    "took items beyond an even share": "annotations:task_more",
    "handed skipped items out again": "annotations:answer_hand_out",
    "reviewed an annotator's answer": (
        "annotations:answer_review annotations:answer_fix api:review_answer"
    ),
    "prepared the next round of a campaign": "annotations:campaign_prepare",
    "copied a campaign": "annotations:campaign_copy",
    "deleted a campaign that nobody had answered": "annotations:campaign_delete",
    "gave a campaign's items more annotators": "annotations:campaign_raise",
    "kept items of a campaign for somebody": "annotations:campaign_name_items",
    "closed a campaign": "annotations:campaign_close api:close_campaign_by_id",
    "closed a campaign that reached its goal": "campaign_goal",
    "planned a campaign": "annotations:campaign_create api:make_campaign",
    "changed a campaign": "annotations:campaign_detail annotations:campaign_edit api:edit_campaign",
    "opened a campaign": "annotations:campaign_open api:open_campaign_by_id",
    "changed the open link of a campaign": "annotations:open_link_edit api:put_open_link",
    "opened or closed the link of a campaign": "annotations:open_link_switch",
    "marked a participant as returned": "annotations:participant_return",
    "removed personal data of participants": (
        "annotations:participant_forget api:forget_participant"
    ),
    "removed a person": "annotations:person_forget",
    "changed the guidelines for annotators": "annotations:guidelines_edit",
    "cancelled a run": "api:cancel evaluations:run_cancel",
    "changed an endpoint": "api:change_endpoint evaluations:endpoint_edit",
    "archived or restored the project": "api:archive_project evaluations:project_archive",
    "tried to delete the project": "api:remove_project evaluations:project_delete",
    "changed a member": "api:edit_member evaluations:member_change",
    "removed a member": "api:remove_member",
    "sent a member a link for a new password": "api:send_password evaluations:member_password",
    "invited somebody": "api:make_invitation evaluations:invitation_create",
    "invited people by mail": "api:mail_invitations evaluations:invitations_mail",
    "revoked an invitation": "api:revoke_invitation evaluations:invitation_revoke",
    "changed a criterion": "api:edit_criterion evaluations:criterion_edit",
    "changed how texts are shown": "api:edit_formats evaluations:project_formats",
    "changed the project's name, description or guidelines": "api:edit_project",
    "changed a judge": "api:edit_judge evaluations:judge_edit",
    "loaded outputs": "api:load_outputs",
    "loaded preferences": "api:load_preferences",
    "loaded ratings": "api:load_ratings",
    "loaded scores": "api:load_scores",
    "gave a judge its family of models": "api:edit_judge_family",
    "changed who wrote a system's outputs": "api:edit_system",
    "added a criterion": "api:make_criterion evaluations:criterion_create",
    "added an endpoint": "api:make_endpoint evaluations:endpoint_create",
    "created a judge": "api:make_judge evaluations:judge_create",
    "started a run on the rest after a pilot or a trial": "api:make_rest evaluations:run_rest",
    "started a run": "api:make_run",
    "paused a run": "api:pause evaluations:run_pause",
    "probed a model": "api:probe evaluations:endpoint_probe",
    "removed a criterion": "api:remove_criterion_by_id evaluations:criterion_remove",
    "removed a document": "api:remove_document_by_id evaluations:document_remove",
    "removed an output": "api:remove_output_by_id evaluations:output_remove",
    "resumed a run": "api:resume evaluations:run_resume",
    "retired or restored an endpoint": "api:retire_endpoint evaluations:endpoint_retire",
    "retired or restored a judge": "api:retire_judge evaluations:judge_retire",
    "added preset criteria": "evaluations:criterion_presets",
    "sent a message of a webhook again": "evaluations:delivery_repeat",
    "asked a model to explain a score": "evaluations:item_explain",
    "tried a judge on items, or kept its prompt": "evaluations:judge_try",
    "had the report computed again": "evaluations:report_again",
    "changed a judge as its run advised": "evaluations:run_change",
    "started or estimated a run": "evaluations:run_start",
    "removed saved column names": "evaluations:saved_columns_forget",
    "changed who wrote outputs, or families of models": "evaluations:system_change",
    "shared the report": "evaluations:share_create",
    "ended a shared link": "evaluations:share_revoke",
    "froze the report": "evaluations:snapshot_create",
    "wrote or generated evaluation steps": "evaluations:steps_create",
    "answered a question about an upload": "evaluations:upload_answer",
    "chose the columns of an upload": "evaluations:upload_columns",
    "corrected an upload": "evaluations:upload_correct",
    "uploaded files": "evaluations:upload_create",
    "discarded an upload": "evaluations:upload_discard",
    "loaded an upload": "evaluations:upload_load",
    "undid an upload": "evaluations:upload_undo",
    "loaded an upload without the rows with errors": "evaluations:upload_rest",
    "chose the scales of an upload": "evaluations:upload_scales",
    "added a webhook": "evaluations:webhook_list",
    "removed a webhook": "evaluations:webhook_remove",
    "tested a webhook": "evaluations:webhook_test",
    "removed old data, as its settings say": "retention",
    "cancelled a search for a better judge": "api:cancel_search_by_id evaluations:search_cancel",
    "locked documents": "api:make_locked evaluations:lock_create",
    "started a search for a better judge": "api:make_search evaluations:search_create",
    "started a study of a judge": "api:make_study_of evaluations:judge_study",
    "stopped a study of a judge": "api:stop_study_by_id evaluations:study_stop",
    "paused a search for a better judge": "api:pause_search_by_id evaluations:search_pause",
    "resumed a search for a better judge": "api:resume_search_by_id evaluations:search_resume",
    "looked at the locked documents": "api:take_look evaluations:look_create",
    "adopted an improved judge": "api:use_candidate evaluations:candidate_adopt",
    "certified a judge": "api:make_certificate evaluations:judge_certify",
    "asked for a policy": "evaluations:judge_policy_ask",
    "used a policy": "evaluations:policy_use",
    "stopped using a policy": "evaluations:policy_stop",
    "gave a disagreement a cause": "evaluations:cause_give",
    "added examples to a judge's prompt": "evaluations:examples_add",
    "removed the cause of a disagreement": "evaluations:cause_remove",
    "unlocked the locked documents": "evaluations:lock_open",
}


@cache
def names_in_words() -> dict[str, str]:
    """Return the phrase of each name."""
    return {name: words for words, names in _NAMES.items() for name in names.split()}


@dataclass(frozen=True)
class Activity:
    """An action, once or several times in a row; `at` is the last time."""

    at: datetime
    who: str
    what: str
    times: int = 1


def actions_with(text: str) -> list[str]:
    """Return the names of actions whose phrase contains a text."""
    return [name for name, words in names_in_words().items() if text.casefold() in words.casefold()]


def in_words(action: str) -> str:
    """Describe an entry's action; by its name if nothing has words for it now."""
    name = action.rpartition(":")[2].removesuffix("_by_id").replace("_", " ")
    return names_in_words().get(action) or f"used a part that this site does not have now ({name})"


def recent_activity(project: Project) -> list[Activity]:
    """Return the latest actions in a project, newest first, merging repetitions."""
    recent_activity: list[Activity] = []
    for entry in AuditEntry.objects.filter(project=project, refused=False)[: SHOWN * 5]:
        who = "The site" if entry.user_name == AuditEntry.THE_SITE else entry.user_name
        what, last = in_words(entry.action), recent_activity[-1] if recent_activity else None
        if last and (last.who, last.what) == (who, what):
            recent_activity[-1] = Activity(last.at, who, what, last.times + 1)
        elif len(recent_activity) == SHOWN:
            break
        else:
            recent_activity.append(Activity(entry.created_at, who, what))
    return recent_activity
