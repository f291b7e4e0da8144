"""What people did in a project, in words: the names of pages and endpoints in the audit log are
for programs."""

from dataclasses import dataclass
from datetime import datetime

from evaluations.models import AuditEntry, Project

SHOWN = 6
# What somebody did, by the name of the page or endpoint; a test holds that none is missing.
IN_WORDS = {
    "annotations:adjudication_item": "decided a disagreement of annotators",
    "annotations:annotator_exclude": "excluded an annotator, or lifted that",
    "annotations:answer_hand_out": "handed skipped items out again",
    "annotations:answer_review": "reviewed an annotator's answer",
    "annotations:campaign_copy": "copied a campaign",
    "annotations:campaign_delete": "deleted a campaign that nobody had answered",
    "annotations:campaign_raise": "gave a campaign's items more annotators",
    "annotations:campaign_close": "closed a campaign",
    "campaign_goal": "closed a campaign that reached its goal",
    "annotations:campaign_create": "planned a campaign",
    "annotations:campaign_detail": "changed a campaign",
    "annotations:campaign_edit": "changed a campaign",
    "annotations:campaign_open": "opened a campaign",
    "annotations:open_link_edit": "changed the open link of a campaign",
    "annotations:open_link_switch": "opened or closed the link of a campaign",
    "annotations:participant_return": "marked a participant as returned",
    "annotations:participant_forget": "removed personal data of participants",
    "api:put_open_link": "changed the open link of a campaign",
    "api:forget_participant": "removed personal data of participants",
    "annotations:guidelines_edit": "changed the guidelines for annotators",
    "api:cancel": "cancelled a run",
    "api:cancel_search_by_id": "cancelled a search for a better judge",
    "api:change_endpoint": "changed an endpoint",
    "api:archive_project": "archived or restored the project",
    "api:remove_project": "tried to delete the project",
    "api:edit_member": "changed a member",
    "api:remove_member": "removed a member",
    "api:send_password": "sent a member a link for a new password",
    "api:make_invitation": "invited somebody",
    "api:mail_invitations": "invited people by mail",
    "api:revoke_invitation": "revoked an invitation",
    "api:edit_campaign": "changed a campaign",
    "api:edit_criterion": "changed a criterion",
    "api:edit_formats": "changed how texts are shown",
    "api:edit_project": "changed the project's name, description or guidelines",
    "api:edit_judge": "changed a judge",
    "api:load_outputs": "loaded outputs",
    "api:load_preferences": "loaded preferences",
    "api:load_ratings": "loaded ratings",
    "api:load_scores": "loaded scores",
    "api:edit_judge_family": "gave a judge its family of models",
    "api:edit_system": "changed who wrote a system's outputs",
    "api:make_criterion": "added a criterion",
    "api:make_endpoint": "added an endpoint",
    "api:make_judge": "created a judge",
    "api:make_locked": "locked documents",
    "api:make_rest": "started a run on the rest after a pilot or a trial",
    "api:make_run": "started a run",
    "api:make_search": "started a search for a better judge",
    "api:make_campaign": "planned a campaign",
    "api:review_answer": "reviewed an annotator's answer",
    "api:open_campaign_by_id": "opened a campaign",
    "api:close_campaign_by_id": "closed a campaign",
    "api:make_study_of": "started a study of a judge",
    "api:stop_study_by_id": "stopped a study of a judge",
    "evaluations:judge_study": "started a study of a judge",
    "evaluations:study_stop": "stopped a study of a judge",
    "api:pause": "paused a run",
    "api:pause_search_by_id": "paused a search for a better judge",
    "api:probe": "probed a model",
    "api:remove_criterion_by_id": "removed a criterion",
    "api:remove_document_by_id": "removed a document",
    "api:remove_output_by_id": "removed an output",
    "api:resume": "resumed a run",
    "api:resume_search_by_id": "resumed a search for a better judge",
    "api:retire_endpoint": "retired or restored an endpoint",
    "api:retire_judge": "retired or restored a judge",
    "api:take_look": "looked at the locked documents",
    "api:use_candidate": "adopted an improved judge",
    "api:make_certificate": "certified a judge",
    "evaluations:judge_certify": "certified a judge",
    "evaluations:candidate_adopt": "adopted an improved judge",
    "evaluations:cause_give": "gave a disagreement a cause",
    "evaluations:examples_add": "added examples to a judge's prompt",
    "evaluations:cause_remove": "removed the cause of a disagreement",
    "evaluations:criterion_create": "added a criterion",
    "evaluations:criterion_edit": "changed a criterion",
    "evaluations:criterion_presets": "added preset criteria",
    "evaluations:criterion_remove": "removed a criterion",
    "evaluations:delivery_repeat": "sent a message of a webhook again",
    "evaluations:document_remove": "removed a document",
    "evaluations:endpoint_create": "added an endpoint",
    "evaluations:endpoint_edit": "changed an endpoint",
    "evaluations:endpoint_probe": "probed a model",
    "evaluations:endpoint_retire": "retired or restored an endpoint",
    "evaluations:invitation_create": "invited somebody",
    "evaluations:invitations_mail": "invited people by mail",
    "evaluations:member_password": "sent a member a link for a new password",
    "evaluations:invitation_revoke": "revoked an invitation",
    "evaluations:item_explain": "asked a model to explain a score",
    "evaluations:judge_create": "created a judge",
    "evaluations:judge_edit": "changed a judge",
    "evaluations:judge_retire": "retired or restored a judge",
    "evaluations:judge_try": "tried a judge on items, or kept its prompt",
    "evaluations:lock_create": "locked documents",
    "evaluations:lock_open": "unlocked the locked documents",
    "evaluations:look_create": "looked at the locked documents",
    "evaluations:member_change": "changed a member",
    "evaluations:output_remove": "removed an output",
    "evaluations:project_archive": "archived or restored the project",
    "evaluations:project_delete": "tried to delete the project",
    "evaluations:project_formats": "changed how texts are shown",
    "evaluations:report_again": "had the report computed again",
    "evaluations:run_cancel": "cancelled a run",
    "evaluations:run_pause": "paused a run",
    "evaluations:run_rest": "started a run on the rest after a pilot or a trial",
    "evaluations:run_change": "changed a judge as its run advised",
    "evaluations:run_resume": "resumed a run",
    "evaluations:run_start": "started or estimated a run",
    "evaluations:saved_columns_forget": "removed saved column names",
    "evaluations:search_cancel": "cancelled a search for a better judge",
    "evaluations:system_change": "changed who wrote outputs, or families of models",
    "evaluations:search_create": "started a search for a better judge",
    "evaluations:search_pause": "paused a search for a better judge",
    "evaluations:search_resume": "resumed a search for a better judge",
    "evaluations:share_create": "shared the report",
    "evaluations:share_revoke": "ended a shared link",
    "evaluations:snapshot_create": "froze the report",
    "evaluations:steps_create": "wrote or generated evaluation steps",
    "evaluations:upload_answer": "answered a question about an upload",
    "evaluations:upload_columns": "chose the columns of an upload",
    "evaluations:upload_correct": "corrected an upload",
    "evaluations:upload_create": "uploaded files",
    "evaluations:upload_discard": "discarded an upload",
    "evaluations:upload_load": "loaded an upload",
    "evaluations:upload_rest": "loaded an upload without the rows with errors",
    "evaluations:upload_scales": "chose the scales of an upload",
    "evaluations:webhook_list": "added a webhook",
    "evaluations:webhook_remove": "removed a webhook",
    "evaluations:webhook_test": "tested a webhook",
    "retention": "removed old data, as its settings say",
}


@dataclass(frozen=True)
class Activity:
    """Something that somebody did, once or several times in a row; `at` is the last time."""

    at: datetime
    who: str
    what: str
    times: int = 1


def in_words(action: str) -> str:
    """What an entry's action says somebody did."""
    return IN_WORDS.get(action, "changed something")


def recent_activity(project: Project) -> list[Activity]:
    """The last things that people did in a project, the newest first; repetitions are one."""
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
