"""A project at a glance: its five steps, each with a state, one number and the next action."""

from dataclasses import dataclass, replace

from django.db.models import Exists, OuterRef
from django.urls import reverse

from annotations.models import Campaign, Rating
from annotations.models.campaigns import CampaignState
from evaluations.models import EvaluationRun, Project
from evaluations.models.sizes import rating_count, with_sizes
from evaluations.pages.jobs import Jobs
from geval.reports.at_a_glance import AtAGlance, at_a_glance
from geval.reports.report import Report
from geval.reports.verdicts.verdict import Verdict
from geval.reports.words import headline
from geval.texts.numbers import counted, thin, whole_percent


@dataclass(frozen=True)
class HomeStep:
    """One of the five steps. `kind` is "done", "asks" (a person has to act), "going" or "later";
    `key` names it in addresses and tests."""

    key: str
    name: str
    kind: str
    state: str
    number: str
    about: str
    action: str
    address: str


@dataclass(frozen=True)
class Home:
    """A project's verdicts in brief; `outputs` counts those of locked documents, too."""

    headline: tuple[str, ...]
    glance: AtAGlance
    stand_ins: tuple[str, ...]
    outputs: int


def home_of(report: Report) -> Home:
    """Return the home page's summary of a report."""
    return Home(
        headline=headline(report.criteria, report.labels),
        glance=at_a_glance(report),
        stand_ins=tuple(report.stand_ins),
        outputs=report.outputs,
    )


def steps_of(
    project: Project, jobs: Jobs, glance: AtAGlance | None, *, may_edit: bool
) -> tuple[HomeStep, ...]:
    """Return the five steps of a project; at most one of them needs a person.

    Args:
        glance: the verdicts, None while they are not computed.
    """
    steps = [
        _data(project, may_edit=may_edit),
        _criteria(project, may_edit=may_edit),
        _people(project, may_edit=may_edit),
        _judge(project, jobs, may_edit=may_edit),
        report_step(project, glance),
    ]
    first_open = next((index for index, step in enumerate(steps) if step.kind == "later"), None)
    if first_open is not None and may_edit and steps[first_open].key != "report":
        steps[first_open] = replace(steps[first_open], kind="asks", state="Needs you")
    return tuple(steps)


def _address(name: str, project: Project, *more: int) -> str:
    return reverse(name, args=[project.slug, *more])


def _step(key: str, name: str, count: int, about: str, action: str, address: str) -> HomeStep:
    kind, state = ("done", "Done") if count else ("later", "To do")
    return HomeStep(key, name, kind, state, thin(count), about, action, address)


def _data(project: Project, *, may_edit: bool) -> HomeStep:
    (sized,) = with_sizes([project])
    outputs = sized.output_count
    about = (
        f"output{'' if outputs == 1 else 's'} of {counted(sized.system_count, 'system')} for"
        f" {counted(sized.document_count, 'document')}"
    )
    if may_edit:
        address = _address("evaluations:upload_create", project)
        return _step("data", "Data", outputs, about, "Upload data", address)
    address = _address("evaluations:document_list", project)
    return _step("data", "Data", outputs, about, "Read the texts", address)


def _criteria(project: Project, *, may_edit: bool) -> HomeStep:
    names = list(project.criteria.values_list("name", flat=True))
    about = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    action = "Edit criteria" if may_edit else "Read the criteria"
    if not names and may_edit:
        action = "Choose criteria"
    address = _address("evaluations:criterion_list", project)
    return _step(
        "criteria", "Criteria", len(names), about or "what texts are rated on", action, address
    )


def _people(project: Project, *, may_edit: bool) -> HomeStep:
    ratings = rating_count(project)
    rated = Rating.objects.filter(annotator=OuterRef("pk"))
    people = project.annotators.filter(Exists(rated)).count()
    about = f"rating{'' if ratings == 1 else 's'} by {counted(people, 'person', 'people')}"
    address = _address("annotations:campaign_list", project)
    campaign = Campaign.objects.filter(project=project, state=CampaignState.OPEN).first()
    if campaign:
        address = _address("annotations:campaign_detail", project, campaign.pk)
        about = f"{about}; a campaign is open"
        step = _step("people", "People", ratings, about, "Open the campaign", address)
        return replace(step, kind="going", state="Rating")
    action = "Plan a campaign" if may_edit else "Show campaigns"
    return _step("people", "People", ratings, about, action, address)


def _judge(project: Project, jobs: Jobs, *, may_edit: bool) -> HomeStep:
    if jobs.runs and jobs.share is not None:
        run = jobs.runs[-1]
        about = (
            f"of run {run.pk}: {run.judge}" if len(jobs.runs) == 1 else f"of {len(jobs.runs)} runs"
        )
        address = _address("evaluations:run_detail", project, run.pk)
        number = whole_percent(jobs.share)
        return HomeStep(
            "judge", "Judge", "going", "Running", number, about, "Watch the run", address
        )
    scored = EvaluationRun.objects.counting().filter(judge=OuterRef("pk"), scores__isnull=False)
    judges = project.judges.filter(Exists(scored)).count()
    about = f"judge{'' if judges == 1 else 's'} with scores"
    if not may_edit:
        address = _address("evaluations:judge_list", project)
        return _step("judge", "Judge", judges, about, "Show judges", address)
    if project.judges.that_run().exists():
        address = _address("evaluations:run_list", project)
        return _step("judge", "Judge", judges, about, "Start a run", address)
    address = _address("evaluations:judge_create", project)
    return _step("judge", "Judge", judges, about, "Create a judge", address)


def report_step(project: Project, glance: AtAGlance | None) -> HomeStep:
    """Return the last step: on how many criteria a judge can stand in for a rater."""
    address = _address("evaluations:report_detail", project)
    if glance is None:
        about = "the verdicts are being computed"
        return HomeStep("report", "Report", "later", "Wait", "–", about, "Open the report", address)
    if glance.is_empty:
        about = "needs ratings, and a judge with scores"
        return HomeStep(
            "report", "Report", "later", "Later", "–", about, "Open the report", address
        )
    verdicts = [row.verdict for row in glance.rows]
    verdicts += [row.verdict for row in glance.of_labels]
    stands = sum(verdict in (Verdict.STANDS_IN, Verdict.AGREES) for verdict in verdicts)
    about = "criteria that a judge may rate alone"
    number = f"{stands} of {len(verdicts)}"
    return HomeStep("report", "Report", "done", "Ready", number, about, "Read the report", address)
