"""The operations of the HTTP API, as methods of both clients.

Written by `.ci/client_operations.py` from the API's OpenAPI document.
"""
# fmt: off

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from geval.client.requests import Request, Rows, answered, lined, listed, saved

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from geval.client import shapes


class SiteOperations:
    """What is asked of a site."""

    @listed
    def list_projects(self) -> Request[shapes.ProjectOut]:
        """The projects of the user that the token may access."""
        return Request("GET", "/projects")

    @answered
    def make_project(
        self, name: str, **more: Unpack[shapes.ProjectIn]
    ) -> Request[shapes.ProjectOut]:
        """Create a project, owned by the user. The response has its short name."""
        return Request("POST", "/projects", body={"name": name, **more})


class ProjectOperations:
    """What is asked of a project."""

    slug: str

    @property
    def path(self) -> str:
        """What its addresses begin with."""
        return f"/projects/{quote(self.slug, safe='')}"

    @answered
    def get_project(self) -> Request[shapes.ProjectOut]:
        """One project with its counts."""
        return Request("GET", self.path)

    @answered
    def edit_project(self, **more: Unpack[shapes.ProjectChange]) -> Request[shapes.ProjectOut]:
        """Change a project's name, description or guidelines for annotators."""
        return Request("PUT", self.path, body=more)

    @answered
    def remove_project(self, name: str) -> Request[None]:
        """Delete an archived project and all that it holds, for good."""
        return Request("DELETE", self.path, body={"name": name})

    @answered
    def edit_formats(self, **more: Unpack[shapes.FormatsIn]) -> Request[shapes.ProjectOut]:
        """Change how people see the texts. Judges always get them as they were written."""
        return Request("PUT", f"{self.path}/formats", body=more)

    @answered
    def archive_project(self, archived: bool) -> Request[shapes.ProjectOut]:
        """Archive a project, which then cannot be changed, or restore it."""
        return Request("PUT", f"{self.path}/archived", body={"archived": archived})

    @answered
    def get_usage(self) -> Request[list[shapes.AllowanceOut]]:
        """What the project, and all projects of its owner, use of what they may."""
        return Request("GET", f"{self.path}/usage")

    @saved
    def get_archive(self, to: str | Path, *, pseudonyms: bool | None = None) -> Request[Path]:
        """The whole project as one zip of plain files; `pseudonyms` leaves out annotators'
        names."""
        return Request("GET", f"{self.path}/archive", query={"pseudonyms": pseudonyms}, to=to)

    @answered
    def list_members(self) -> Request[list[shapes.MemberOut]]:
        """All members with their roles."""
        return Request("GET", f"{self.path}/members")

    @answered
    def send_password(self, pk: int) -> Request[shapes.PasswordOut]:
        """Give a member a link for a new password: by mail, or here if they have no address."""
        return Request("POST", f"{self.path}/members/{pk}/password")

    @answered
    def edit_member(
        self, pk: int, role: Literal["owner", "researcher", "annotator", "viewer"],
    ) -> Request[shapes.MemberOut]:
        """Give a member another role; a project keeps at least one owner."""
        return Request("PUT", f"{self.path}/members/{pk}", body={"role": role})

    @answered
    def remove_member(self, pk: int) -> Request[None]:
        """Remove a member; their ratings are kept, and a project keeps at least one owner."""
        return Request("DELETE", f"{self.path}/members/{pk}")

    @answered
    def list_invitations(self) -> Request[list[shapes.InvitationOut]]:
        """The open invitations."""
        return Request("GET", f"{self.path}/invitations")

    @answered
    def make_invitation(
        self, **more: Unpack[shapes.InvitationIn]
    ) -> Request[shapes.NewInvitationOut]:
        """Invite somebody by a link, which you send."""
        return Request("POST", f"{self.path}/invitations", body=more)

    @answered
    def mail_invitations(
        self, addresses: list[str], **more: Unpack[shapes.MailedIn]
    ) -> Request[shapes.MailedOut]:
        """Invite people by mail; those who are members or invited already are left out."""
        return Request(
            "POST", f"{self.path}/invitations/mailed", body={"addresses": addresses, **more}
        )

    @answered
    def revoke_invitation(self, pk: int) -> Request[None]:
        """Withdraw an open invitation: its link no longer works."""
        return Request("DELETE", f"{self.path}/invitations/{pk}")

    @listed
    def list_documents(self, *, q: str | None = None) -> Request[shapes.DocumentOut]:
        """Documents, paginated."""
        return Request("GET", f"{self.path}/documents", query={"q": q})

    @answered
    def get_conversation(self, pk: int) -> Request[shapes.TurnsOut]:
        """The conversation of a document; without turns if it is not one."""
        return Request("GET", f"{self.path}/documents/{pk}/conversation")

    @answered
    def list_systems(self) -> Request[list[shapes.SystemOut]]:
        """All systems: who wrote the outputs, and of which family of models they are."""
        return Request("GET", f"{self.path}/systems")

    @answered
    def edit_system(
        self, pk: int, **more: Unpack[shapes.SystemIn]
    ) -> Request[shapes.SystemOut]:
        """Say who wrote a system's outputs; what is left out stays as it is."""
        return Request("PUT", f"{self.path}/systems/{pk}", body=more)

    @listed
    def list_outputs(
        self, *, doc_id: str | None = None, system_id: str | None = None,
    ) -> Request[shapes.OutputOut]:
        """Candidate outputs, paginated; optionally of one document or system."""
        return Request(
            "GET", f"{self.path}/outputs", query={"doc_id": doc_id, "system_id": system_id},
        )

    @answered
    def load_outputs(
        self, rows: Rows, *, judge: str | None = None, criterion: str | None = None,
        annotator: str | None = None, rate: str | None = None, replace: bool | None = None,
        check: bool | None = None, open_only: bool | None = None, sheet: str | None = None,
        columns: Sequence[str] | None = None, scale: Sequence[str] | None = None,
    ) -> Request[shapes.Loaded]:
        """Load outputs with their documents: JSON Lines, CSV, or any file that an upload
        accepts."""
        return Request(
            "POST", f"{self.path}/outputs", query={"judge": judge, "criterion": criterion,
            "annotator": annotator, "rate": rate, "replace": replace, "check": check,
            "open_only": open_only, "sheet": sheet, "columns": columns, "scale": scale}, rows=rows,
        )

    @answered
    def remove_document(self, pk: int) -> Request[None]:
        """Remove a document with its outputs if nothing depends on them; else 409 says what
        does."""
        return Request("DELETE", f"{self.path}/documents/{pk}")

    @answered
    def remove_output(self, pk: int) -> Request[None]:
        """Remove one output if nothing depends on it."""
        return Request("DELETE", f"{self.path}/outputs/{pk}")

    @answered
    def load_ratings(
        self, rows: Rows, *, judge: str | None = None, criterion: str | None = None,
        annotator: str | None = None, rate: str | None = None, replace: bool | None = None,
        check: bool | None = None, open_only: bool | None = None, sheet: str | None = None,
        columns: Sequence[str] | None = None, scale: Sequence[str] | None = None,
    ) -> Request[shapes.Loaded]:
        """Load people's ratings."""
        return Request(
            "POST", f"{self.path}/ratings", query={"judge": judge, "criterion": criterion,
            "annotator": annotator, "rate": rate, "replace": replace, "check": check,
            "open_only": open_only, "sheet": sheet, "columns": columns, "scale": scale}, rows=rows,
        )

    @lined
    def get_ratings(self) -> Request[dict[str, Any]]:
        """All ratings of people, one JSON object per line."""
        return Request("GET", f"{self.path}/ratings")

    @answered
    def load_preferences(
        self, rows: Rows, *, judge: str | None = None, criterion: str | None = None,
        annotator: str | None = None, rate: str | None = None, replace: bool | None = None,
        check: bool | None = None, open_only: bool | None = None, sheet: str | None = None,
        columns: Sequence[str] | None = None, scale: Sequence[str] | None = None,
    ) -> Request[shapes.Loaded]:
        """Load preferences between two outputs: people's, or with `judge` that judge's verdicts."""
        return Request(
            "POST", f"{self.path}/preferences", query={"judge": judge, "criterion": criterion,
            "annotator": annotator, "rate": rate, "replace": replace, "check": check,
            "open_only": open_only, "sheet": sheet, "columns": columns, "scale": scale}, rows=rows,
        )

    @lined
    def get_preferences(self) -> Request[dict[str, Any]]:
        """All preferences of people, one JSON object per line."""
        return Request("GET", f"{self.path}/preferences")

    @answered
    def load_scores(
        self, rows: Rows, *, judge: str | None = None, criterion: str | None = None,
        annotator: str | None = None, rate: str | None = None, replace: bool | None = None,
        check: bool | None = None, open_only: bool | None = None, sheet: str | None = None,
        columns: Sequence[str] | None = None, scale: Sequence[str] | None = None,
    ) -> Request[shapes.Loaded]:
        """Load scores, or raw replies, of judges that ran elsewhere."""
        return Request(
            "POST", f"{self.path}/scores", query={"judge": judge, "criterion": criterion,
            "annotator": annotator, "rate": rate, "replace": replace, "check": check,
            "open_only": open_only, "sheet": sheet, "columns": columns, "scale": scale}, rows=rows,
        )

    @lined
    def get_scores(self) -> Request[dict[str, Any]]:
        """All scores of all judges, one JSON object per line; scores from later runs come later."""
        return Request("GET", f"{self.path}/scores")

    @lined
    def get_choices(self) -> Request[dict[str, Any]]:
        """What judges chose between two outputs, one JSON object per line: each judge's newest
        answer about each pair, as `share` (the probability of `system_a`, a tie counts half),
        `tie`, and `shown_first` (what went to the output shown first, null if both orders were not
        asked)."""
        return Request("GET", f"{self.path}/choices")

    @saved
    def get_export(
        self, to: str | Path, name: Literal["hugging-face.zip", "label-studio.json",
        "argilla.json", "answers.csv", "answers.jsonl", "decisions.csv", "decisions.jsonl"],
    ) -> Request[Path]:
        """Outputs with their ratings and scores, as a dataset of Hugging Face (a zip), tasks of
        Label Studio or records of Argilla (JSON lists), which uploads accept; or all answers of
        campaigns and adjudicators' decisions."""
        return Request("GET", f"{self.path}/exports/{name}", to=to)

    @answered
    def list_endpoints(self) -> Request[list[shapes.EndpointOut]]:
        """All endpoints of a project, retired ones included."""
        return Request("GET", f"{self.path}/endpoints")

    @answered
    def make_endpoint(
        self, base_url: str, **more: Unpack[shapes.EndpointIn]
    ) -> Request[shapes.EndpointOut]:
        """Create an endpoint."""
        return Request("POST", f"{self.path}/endpoints", body={"base_url": base_url, **more})

    @answered
    def change_endpoint(
        self, pk: int, base_url: str, **more: Unpack[shapes.EndpointIn]
    ) -> Request[shapes.EndpointOut]:
        """Change an endpoint."""
        return Request("PUT", f"{self.path}/endpoints/{pk}", body={"base_url": base_url, **more})

    @answered
    def probe_endpoint(
        self, pk: int, model: str, **more: Unpack[shapes.ProbeIn]
    ) -> Request[shapes.ProbeOut]:
        """Have a worker probe the endpoint for a model; poll `address` for the progress."""
        return Request("POST", f"{self.path}/endpoints/{pk}/probe", body={"model": model, **more})

    @answered
    def show_probe(self, pk: int, probe: int) -> Request[shapes.ProbeOut]:
        """The progress and findings of a probe."""
        return Request("GET", f"{self.path}/endpoints/{pk}/probes/{probe}")

    @answered
    def retire_endpoint(self, pk: int, retired: bool) -> Request[shapes.EndpointOut]:
        """Retire an endpoint, or restore it."""
        return Request("PUT", f"{self.path}/endpoints/{pk}/retired", body={"retired": retired})

    @answered
    def list_judges(self) -> Request[list[shapes.JudgeOut]]:
        """All judges of a project, with all their versions."""
        return Request("GET", f"{self.path}/judges")

    @answered
    def make_judge(self, name: str, **more: Unpack[shapes.JudgeIn]) -> Request[shapes.JudgeOut]:
        """Create a judge; repeating the request returns the existing one, with status 200."""
        return Request("POST", f"{self.path}/judges", body={"name": name, **more})

    @answered
    def edit_judge(
        self, pk: int, name: str, **more: Unpack[shapes.JudgeIn]
    ) -> Request[shapes.JudgeOut]:
        """Change a judge; once runs have used it, this creates and returns a new version."""
        return Request("PUT", f"{self.path}/judges/{pk}", body={"name": name, **more})

    @answered
    def retire_judge(self, pk: int, retired: bool) -> Request[shapes.JudgeOut]:
        """Retire a judge, or restore it; its scores are kept."""
        return Request("PUT", f"{self.path}/judges/{pk}/retired", body={"retired": retired})

    @answered
    def get_steadiness(self, pk: int) -> Request[dict[str, Any]]:
        """How far the judge's replies to the same question differ, by criterion; empty where its
        scores rest on one reply each."""
        return Request("GET", f"{self.path}/judges/{pk}/steadiness")

    @answered
    def edit_judge_family(self, pk: int, family: str) -> Request[shapes.JudgeOut]:
        """Say of which family of models a judge is, whose own texts it may prefer; it gets no new
        version."""
        return Request("PUT", f"{self.path}/judges/{pk}/family", body={"family": family})

    @answered
    def list_criteria(self) -> Request[list[shapes.CriterionOut]]:
        """All criteria, in the order reports show them."""
        return Request("GET", f"{self.path}/criteria")

    @answered
    def make_criterion(
        self, name: str, **more: Unpack[shapes.CriterionIn]
    ) -> Request[shapes.CriterionOut]:
        """Create a criterion."""
        return Request("POST", f"{self.path}/criteria", body={"name": name, **more})

    @answered
    def edit_criterion(
        self, pk: int, **more: Unpack[shapes.CriterionChange]
    ) -> Request[shapes.CriterionOut]:
        """Change a criterion; running runs keep the prompt they started with."""
        return Request("PUT", f"{self.path}/criteria/{pk}", body=more)

    @answered
    def remove_criterion(self, pk: int) -> Request[None]:
        """Remove a criterion if nothing depends on it; otherwise 409 says what does."""
        return Request("DELETE", f"{self.path}/criteria/{pk}")

    @listed
    def list_runs(self) -> Request[shapes.RunShort]:
        """Runs, paginated."""
        return Request("GET", f"{self.path}/runs")

    @answered
    def make_run(self, judge: int, **more: Unpack[shapes.RunIn]) -> Request[shapes.RunOut]:
        """Start a run of a judge; workers execute it."""
        return Request("POST", f"{self.path}/runs", body={"judge": judge, **more})

    @answered
    def make_rest(self, pk: int, **more: Unpack[shapes.RestIn]) -> Request[shapes.RunOut]:
        """Start a run on what a pilot or a trial left out."""
        return Request("POST", f"{self.path}/runs/{pk}/rest", body=more)

    @answered
    def get_run(self, pk: int) -> Request[shapes.RunOut]:
        """A run with its counts."""
        return Request("GET", f"{self.path}/runs/{pk}")

    @answered
    def pause_run(self, pk: int) -> Request[shapes.ActionOut]:
        """Pause a run."""
        return Request("POST", f"{self.path}/runs/{pk}/pause")

    @answered
    def resume_run(self, pk: int, **more: Unpack[shapes.ResumeIn]) -> Request[shapes.ActionOut]:
        """Resume a paused run, or retry failed items."""
        return Request("POST", f"{self.path}/runs/{pk}/resume", body=more)

    @answered
    def cancel_run(self, pk: int) -> Request[shapes.ActionOut]:
        """Cancel a run for good; its scores are kept."""
        return Request("POST", f"{self.path}/runs/{pk}/cancel")

    @answered
    def get_report(
        self, *, level: str | None = None, coefficient: str | None = None, over: str | None =
        None, human_score: str | None = None, documents: str | None = None, round: int | None =
        None,
    ) -> Request[dict[str, Any] | shapes.ReportProgress]:
        """Everything on the report page, as `manage.py report --format json` prints it. A worker
        computes the report of a large project: 202 with Retry-After says how far the first numbers
        are, 503 why computing them failed. Later the last numbers are returned; while there are
        newer ratings or scores, these begin with `"stale": true`, their age and the progress of new
        ones."""
        return Request(
            "GET", f"{self.path}/report", query={"level": level, "coefficient": coefficient,
            "over": over, "human_score": human_score, "documents": documents, "round": round},
        )

    @answered
    def get_annotator_numbers(self) -> Request[dict[str, Any] | shapes.ReportProgress]:
        """Severity and competence of each annotator with intervals, the outputs on which annotators
        are split, and agreement on marked spans. 202 with Retry-After while a worker computes
        them."""
        return Request("GET", f"{self.path}/annotator-numbers")

    @listed
    def list_campaigns(self) -> Request[shapes.CampaignOut]:
        """The project's campaigns with their designs and goals, the newest first, in pages."""
        return Request("GET", f"{self.path}/campaigns")

    @answered
    def make_campaign(
        self, name: str, **more: Unpack[shapes.CampaignIn]
    ) -> Request[shapes.CampaignOut]:
        """Create a draft; annotators get its items when it is opened."""
        return Request("POST", f"{self.path}/campaigns", body={"name": name, **more})

    @answered
    def edit_campaign(
        self, pk: int, **more: Unpack[shapes.CampaignChange]
    ) -> Request[shapes.CampaignOut]:
        """Change a campaign; once it was opened, its plan is fixed."""
        return Request("PUT", f"{self.path}/campaigns/{pk}", body=more)

    @answered
    def get_campaign(self, pk: int) -> Request[shapes.CampaignProgressOut]:
        """One campaign, how far it is, and where it stands towards its goal."""
        return Request("GET", f"{self.path}/campaigns/{pk}")

    @answered
    def open_campaign(self, pk: int) -> Request[shapes.CampaignProgressOut]:
        """Create the items of a draft and open it; its plan is fixed then."""
        return Request("POST", f"{self.path}/campaigns/{pk}/open")

    @answered
    def close_campaign(self, pk: int) -> Request[shapes.CampaignProgressOut]:
        """Close it; submitted answers are kept."""
        return Request("POST", f"{self.path}/campaigns/{pk}/close")

    @listed
    def list_answers(self, pk: int) -> Request[dict[str, Any]]:
        """Every answer of a campaign, whole: comment, flag, skip, time, check, history and reviews,
        in pages. `answer` has the names of criteria and systems."""
        return Request("GET", f"{self.path}/campaigns/{pk}/answers")

    @answered
    def review_answer(
        self, pk: int, answer: int, action: Literal["rejected", "counted", "handed out"],
        **more: Unpack[shapes.ReviewIn]
    ) -> Request[dict[str, Any]]:
        """Reject an answer (with a reason), count it again, or hand its item out again."""
        return Request(
            "POST", f"{self.path}/campaigns/{pk}/answers/{answer}/review", body={"action": action,
            **more}
        )

    @answered
    def list_decisions(self, pk: int) -> Request[list[dict[str, Any]]]:
        """Adjudicators' decisions, oldest first; the newest about an item counts."""
        return Request("GET", f"{self.path}/campaigns/{pk}/decisions")

    @answered
    def get_plan(
        self, *, width: float | None = None, judge: int | None = None, rival: int | None = None,
        system: int | None = None, other: int | None = None, kind: Literal["width", "judges",
        "systems"] | None = None, criterion: int | None = None, difference: float | None = None,
        price: float | str | None = None,
    ) -> Request[dict[str, Any]]:
        """How many documents and ratings a campaign takes, from what is rated so far."""
        return Request(
            "GET", f"{self.path}/plan", query={"width": width, "judge": judge, "rival": rival,
            "system": system, "other": other, "kind": kind, "criterion": criterion,
            "difference": difference, "price": price},
        )

    @answered
    def get_open_link(self, pk: int) -> Request[dict[str, Any]]:
        """The link of a campaign, and what applies to everybody who follows it."""
        return Request("GET", f"{self.path}/campaigns/{pk}/open-link")

    @answered
    def put_open_link(
        self, pk: int, address: str, title: str, consent: str,
        **more: Unpack[shapes.OpenLinkIn]
    ) -> Request[dict[str, Any]]:
        """Make the link of a campaign, or change it; `is_open` closes it and opens it again."""
        return Request(
            "PUT", f"{self.path}/campaigns/{pk}/open-link", body={"address": address,
            "title": title, "consent": consent, **more}
        )

    @listed
    def list_participants(self, pk: int) -> Request[dict[str, Any]]:
        """Who took part, in the order in which they agreed, with what they did and get; in
        pages."""
        return Request("GET", f"{self.path}/campaigns/{pk}/participants")

    @saved
    def get_payments(self, to: str | Path, pk: int) -> Request[Path]:
        """The payment file: a row of CSV for each participant."""
        return Request("GET", f"{self.path}/campaigns/{pk}/payments", to=to)

    @answered
    def forget_participant(self, pk: int, participant: int) -> Request[dict[str, Any]]:
        """Remove the id of a participant and what they said about themselves; ratings are kept."""
        return Request("DELETE", f"{self.path}/campaigns/{pk}/participants/{participant}")

    @listed
    def list_certificates(self) -> Request[shapes.CertificateOut]:
        """Certificates, the oldest first, in pages."""
        return Request("GET", f"{self.path}/certificates")

    @answered
    def make_certificate(
        self, judge: int, criterion: int, require: list[str], **more: Unpack[shapes.CertifyIn]
    ) -> Request[shapes.CertificateOut]:
        """Check whether a judge meets requirements on a criterion; `outcome` is the answer."""
        return Request(
            "POST", f"{self.path}/certificates", body={"judge": judge, "criterion": criterion,
            "require": require, **more}
        )

    @answered
    def get_certificate(self, pk: int) -> Request[shapes.CheckedCertificateOut]:
        """A certificate, whether it still `fits`, and what changed if it does not."""
        return Request("GET", f"{self.path}/certificates/{pk}")

    @listed
    def list_studies(self, pk: int) -> Request[dict[str, Any]]:
        """A judge's studies, the oldest first, in pages."""
        return Request("GET", f"{self.path}/judges/{pk}/studies")

    @answered
    def make_study(
        self, pk: int, kind: Literal["drift", "again", "probes"], criterion: int,
        **more: Unpack[shapes.StudyIn]
    ) -> Request[dict[str, Any]]:
        """Start a study; poll it at `GET …/studies/{id}`."""
        return Request(
            "POST", f"{self.path}/judges/{pk}/studies", body={"kind": kind, "criterion": criterion,
            **more}
        )

    @answered
    def get_study(self, pk: int) -> Request[dict[str, Any]]:
        """A study, how far it is, and what it found."""
        return Request("GET", f"{self.path}/studies/{pk}")

    @answered
    def stop_study(self, pk: int) -> Request[dict[str, Any]]:
        """Stop a study for good; what it found is kept."""
        return Request("POST", f"{self.path}/studies/{pk}/stop")

    @answered
    def get_locked(self) -> Request[dict[str, Any]]:
        """The rule of the locked documents and every look at them: the certificate."""
        return Request("GET", f"{self.path}/locked")

    @answered
    def make_locked(self, **more: Unpack[shapes.LockIn]) -> Request[dict[str, Any]]:
        """Set documents aside, for good."""
        return Request("POST", f"{self.path}/locked", body=more)

    @listed
    def list_searches(self) -> Request[dict[str, Any]]:
        """Searches with their changes, in pages."""
        return Request("GET", f"{self.path}/searches")

    @answered
    def make_search(
        self, judge: int, criterion: int, **more: Unpack[shapes.SearchIn]
    ) -> Request[dict[str, Any]]:
        """Have a worker search for changes that make a judge better."""
        return Request(
            "POST", f"{self.path}/searches", body={"judge": judge, "criterion": criterion, **more}
        )

    @answered
    def get_search(self, pk: int) -> Request[dict[str, Any]]:
        """A search with its changes and every wording that was proposed."""
        return Request("GET", f"{self.path}/searches/{pk}")

    @answered
    def pause_search(self, pk: int) -> Request[shapes.DoneOut]:
        """Pause a search."""
        return Request("POST", f"{self.path}/searches/{pk}/pause")

    @answered
    def resume_search(self, pk: int) -> Request[shapes.DoneOut]:
        """Continue a search that is paused or failed."""
        return Request("POST", f"{self.path}/searches/{pk}/resume")

    @answered
    def cancel_search(self, pk: int) -> Request[shapes.DoneOut]:
        """End a search for good; what it tried is kept."""
        return Request("POST", f"{self.path}/searches/{pk}/cancel")

    @answered
    def take_look(self, pk: int) -> Request[dict[str, Any]]:
        """Test a change on the locked documents. 202 while they are being judged in a new wording:
        the look counts, and the same request gets its result later."""
        return Request("POST", f"{self.path}/candidates/{pk}/look")

    @answered
    def use_candidate(self, pk: int) -> Request[shapes.UsedOut]:
        """Make a change a judge, or the judge's next version, and run it on every output."""
        return Request("POST", f"{self.path}/candidates/{pk}/use")

    @answered
    def get_disagreements(
        self, *, judge: int | None = None, criterion: str | None = None, by: str | None = None,
        most: int | None = None,
    ) -> Request[list[shapes.GapOut] | shapes.ReportProgress]:
        """The outputs on which a judge and people differ most, with their texts, the largest gap
        first. 202 with Retry-After while a worker computes them, in a large project."""
        return Request(
            "GET", f"{self.path}/disagreements", query={"judge": judge, "criterion": criterion,
            "by": by, "most": most},
        )

    @lined
    def get_causes(self) -> Request[dict[str, Any]]:
        """Why judges and people differ, as members found: all causes, one JSON object per line."""
        return Request("GET", f"{self.path}/causes")

    @answered
    def get_judge_tests(self, first: int, second: int) -> Request[dict[str, Any]]:
        """Which of two judges orders pairs of systems, and of outputs, more like people: both
        accuracies and permutation tests, by criterion; and whether the probabilities that they gave
        to points are right. `summary` says it in words, with what the dearer judge gives for its
        price. 202 while a worker makes the tests: ask again."""
        return Request("GET", f"{self.path}/judge-tests", query={"first": first, "second": second})
