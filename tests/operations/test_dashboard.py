"""The Grafana dashboard asks for metrics, labels and values that the site has."""

import json
import re

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from evaluations.models import Project, UpkeepJob
from evaluations.reports.report import build_report
from tests.conftest import CHECKOUT

DASHBOARD = json.loads((CHECKOUT / "deploy/grafana/geval-site.json").read_text())
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]


@pytest.mark.django_db
def test_every_query_asks_for_what_a_scrape_gives(judged_project: Project) -> None:
    build_report(judged_project)
    UpkeepJob.objects.create(name="runs", seconds=0.1)
    client = Client()
    client.get("/sign-in/")
    families = list(text_string_to_metric_families(client.get("/metrics").content.decode()))
    # A family without samples yet has its name all the same.
    names = {sample.name for family in families for sample in family.samples}
    names |= {f"{family.name}_total" for family in families if family.type == "counter"}
    labels = {label for family in families for sample in family.samples for label in sample.labels}

    asked = {name for query in QUERIES for name in re.findall(r"geval_\w+", query)}
    grouped = {
        label.strip()
        for query in QUERIES
        for labels_of_group in re.findall(r"by \(([^)]*)\)", query)
        for label in labels_of_group.split(",")
    }

    assert asked - names == set()
    assert grouped - labels - {"reason", "direction", "outcome"} == set()
    own = {family.name.removesuffix("_created") for family in families if "geval_" in family.name}
    assert own <= {name.removesuffix("_total").removesuffix("_bucket") for name in asked}


# What the database counts is told by each web process: a sum over them would be a multiple.
OF_THE_DATABASE = (
    "items", "item_failures", "calls", "stored_replies_used", "tokens", "money", "leases_lost",
    "webhook_attempts",
)  # fmt: skip


@pytest.mark.parametrize("name", OF_THE_DATABASE)
def test_what_every_web_process_tells_is_not_added_up(name: str) -> None:
    queries = [query for query in QUERIES if f"geval_{name}_total" in query]

    assert queries
    for query in queries:
        pattern = rf"max without \(instance, pod\) \((rate|increase)\(geval_{name}_total"
        assert re.search(pattern, query), query
