"""The demo project: a small corpus written for it, invented annotators, and its users."""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from django.contrib.auth import get_user_model
from django.db import transaction

from annotations.models import Campaign, CampaignKind, ItemOrder
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.corpus.store import LoadResult, load_files
from evaluations.judging.judges.judges import endpoint_at
from evaluations.management.commands.local_llm import BUNDLED_NAME
from evaluations.models import (
    CandidateOutput,
    Judge,
    JudgeKind,
    Membership,
    Project,
    Role,
    Score,
    ScoringMode,
    System,
)
from geval.evaluators.base import new_settings
from geval.evaluators.geval import GEval
from geval.files.readers import InputFile
from geval.measuring.inputs import load_example
from geval_site.demo_logins import PASSWORDS

SLUG = "demo"
GUIDELINES = """\
Read the **source** first, then the summary. Rate each criterion by itself: a fluent
summary may still be wrong.

- **5**: as a careful editor would write it
- **3**: usable, with noticeable errors
- **1**: not usable

If you cannot judge a text, *skip* it and say why.
"""
LOCAL_JUDGE = "G-Eval SmolLM2"
LOCAL_STEPS = "1. Read the source text and the summary.\n2. Write one digit, such as 3."
DATA = Path(__file__).parent.parent / "demo_data"
SYSTEM_KINDS = {
    "human_writer": System.Kind.HUMAN,
    "large_llm": System.Kind.LLM,
    "small_llm": System.Kind.LLM,
    "rambler": System.Kind.LLM,
}
# Weights and definitions of the items of the rubric of support answers.
SUPPORT_ITEMS = {
    "resolved": (2, "The answer settles what the customer asked for."),
    "polite": (1, "The answer thanks, apologizes or offers more help."),
    "dated": (1, "The answer says when; not applicable where nobody has to wait."),
}
# Public passwords: a production site refuses them, and the demo itself.
LOGINS = {
    "ada": (PASSWORDS["ada"], Role.OWNER),
    "ben": (PASSWORDS["ben"], Role.RESEARCHER),
    "vera": (PASSWORDS["vera"], Role.VIEWER),
    "ann": (PASSWORDS["ann"], Role.ANNOTATOR),
}


@transaction.atomic
def load_demo() -> tuple[Project, LoadResult]:
    """Create or complete the demo project; repeating it changes nothing."""
    project, made = Project.objects.get_or_create(
        slug=SLUG,
        defaults={
            "name": "Demo",
            "guidelines": GUIDELINES,
            "description": (
                "Twelve invented texts, six systems, three annotators. See how pages and reports"
                " look."
            ),
        },
    )
    if made:
        add_members(project)
    result = load_files(
        project, [InputFile(DATA / name, name) for name in ("outputs.jsonl", "ratings.csv")]
    )
    for name, kind in SYSTEM_KINDS.items():
        project.systems.filter(name=name).update(kind=kind)
    if made:
        _open_campaigns(project)
    return project, result


@transaction.atomic
def load_support() -> Project:
    """Create the project with one expert's labels; repeating it changes nothing."""
    project, is_new = Project.objects.get_or_create(
        slug="support",
        defaults={
            "name": "Support answers",
            "description": (
                "240 invented answers in two languages, passed or failed by one expert and a judge."
            ),
        },
    )
    if is_new:
        add_members(project)
        rubric = project.criteria.create(
            name="quality", position=1, definition="What a good answer has."
        )
        for position, (name, (weight, definition)) in enumerate(SUPPORT_ITEMS.items(), start=2):
            project.criteria.create(
                name=name,
                position=position,
                scale_min=0,
                scale_max=1,
                rubric=rubric,
                weight=weight,
                definition=definition,
                allows_not_applicable=name == "dated",
            )
        texts, ratings, scores = [], [], []
        for row in load_example("support"):
            output = {"doc_id": row["id"], "system_id": "helper"}
            text = {"source": row["question"], "output": row["answer"]}
            metadata = {name: row[name] for name in ("topic", "language")}
            texts.append(output | text | {"metadata": metadata})
            for item, expert, judge in _answers_on_items(row):
                on_it: dict[str, int | str] = {**output, "criterion": item}
                ratings.append(on_it | {"annotator": "expert", "score": expert})
                scores.append(on_it | {"judge": "a judge", "score": judge})
        files = {"outputs": texts, "ratings": ratings, "scores": scores}
        load_texts(project, {f"{name}.json": json.dumps(rows) for name, rows in files.items()})
    return project


def _answers_on_items(row: Mapping[str, str]) -> Iterator[tuple[str, int | str, int | str]]:
    """Yield each item of the rubric with the expert's and the judge's answer about a text."""
    answer = row["answer"]
    yield "resolved", int(row["human"] == "pass"), int(row["judge"] == "pass")
    is_kind = bool(re.search("sorry|[Tt]hank you|good day|[Gg]racias|Lamentamos|buen día", answer))
    yield "polite", int(is_kind or bool(re.search("anything else|algo más", answer))), int(is_kind)
    dates = r"within|in the next|en un plazo|en los próximos|\d+ (May|June|July|August|de [majs])"
    is_dated = bool(re.search(dates, answer))
    needs_none = bool(re.search("sign in|no puedo entrar", row["question"]))
    expert = "n/a" if needs_none or re.search("invoice|factura", row["question"]) else int(is_dated)
    judge = "n/a" if needs_none else int(is_dated or bool(re.search("days|días", answer)))
    yield "dated", expert, judge


def load_texts(project: Project, files: Mapping[str, str]) -> None:
    """Load files from their contents, by name."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_text(content, encoding="utf-8")
        load_files(project, [InputFile(Path(folder) / name, name) for name in files])


def _open_campaigns(project: Project) -> None:
    """Open a rating and a comparison campaign for ada and ann."""
    members = get_user_model().objects.filter(username__in=("ada", "ann"))
    rating = Campaign.objects.create(
        project=project, name="Rate summaries", overlap=1, show_others=True
    )
    rating.criteria.set(project.criteria.all())
    pairs = Campaign.objects.create(
        project=project,
        name="Which summary is better?",
        kind=CampaignKind.PAIRWISE,
        order=ItemOrder.RANDOM,
        overlap=2,
        adjudicate_beyond=1,
    )
    for campaign in (rating, pairs):
        seat_annotators(campaign, members)
        open_campaign(campaign)


def add_members(project: Project) -> None:
    """Add the demo's users, each in a role."""
    user_model = get_user_model()
    for username, (password, role) in LOGINS.items():
        user, made = user_model.objects.get_or_create(
            username=username,
            defaults={"is_staff": role == Role.OWNER, "is_superuser": role == Role.OWNER},
        )
        if made:
            user.set_password(password)
            user.save()
        Membership.objects.get_or_create(project=project, user=user, defaults={"role": role})


@transaction.atomic
def demo_judges(
    project: Project, *, base_url: str, model: str, key_env: str, label: str, both: bool
) -> list[Judge]:
    """Create the demo's judges on an endpoint: by token probabilities and, if `both`, by one direct
    reply.

    If the stand-in's address has changed, its judges are kept and only the endpoint changes.
    """
    modes = {f"G-Eval {label}": ScoringMode.LOGPROBS}
    if both:
        modes[f"Direct {label}"] = ScoringMode.DIRECT
    judges = []
    for name, mode in modes.items():
        judge = project.judges.filter(name=name).first()
        if judge is None:
            endpoint = endpoint_at(project, base_url, key_env=key_env)
            judge = Judge.objects.create(
                project=project,
                name=name,
                kind=JudgeKind.GEVAL,
                endpoint=endpoint,
                model=model,
                mode=mode,
                settings=new_settings(GEval, {}),
            )
        elif judge.endpoint and judge.endpoint.base_url != base_url:
            judge.endpoint.base_url = base_url
            judge.endpoint.save(update_fields=["base_url"])
        judges.append(judge)
    return judges


@transaction.atomic
def local_judge(project: Project, *, base_url: str) -> Judge:
    """Return the judge on this machine's model, with steps simple enough for a small model, and two
    concurrent calls, because the machine has few cores."""
    wording = {project.criteria.all()[0].name: {"steps": LOCAL_STEPS}}
    endpoint, _ = project.endpoints.get_or_create(
        name="local model", defaults={"base_url": base_url}
    )
    if endpoint.base_url != base_url:
        endpoint.base_url = base_url
        endpoint.save(update_fields=["base_url"])
    judge, _ = project.judges.get_or_create(
        name=LOCAL_JUDGE,
        defaults={
            "kind": JudgeKind.GEVAL,
            "endpoint": endpoint,
            "model": BUNDLED_NAME,
            "mode": ScoringMode.LOGPROBS,
            # Without tags: a model this small comments on the sentence that explains them.
            "settings": {"wording": json.dumps(wording)},
            "concurrency": 2,
            "max_tokens": 8,
            "timeout_seconds": 300,
        },
    )
    return judge


def is_judged(judge: Judge) -> bool:
    """Whether this judge has scored every output on every criterion."""
    project = judge.project
    outputs = CandidateOutput.objects.filter(document__project=project).count()
    scored = (
        Score.objects.filter(run__judge=judge)
        .values("output_id", "criterion_id")
        .distinct()
        .count()
    )
    return scored == outputs * project.criteria.without_rubrics().count()
