"""The Grafana dashboard asks for metrics, labels and values that the site has."""

import json
import re

import pytest
from django.conf import settings
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from evaluations.models import Project, RunState, UpkeepJob
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
        for found in re.findall(r"by \(([^)]*)\)", query)
        for label in found.split(",")
    }

    assert asked - names == set()
    assert grouped - labels - {"reason", "direction", "outcome"} == set()
    own = {family.name.removesuffix("_created") for family in families if "geval_" in family.name}
    assert own <= {name.removesuffix("_total").removesuffix("_bucket") for name in asked}


def test_values_in_its_queries_exist() -> None:
    chosen = dict(re.findall(r'(\w+)="(\w+)"', " ".join(QUERIES)))
    assert chosen["queue"] in settings.QUEUES
    assert chosen["state"] in RunState.values
    assert chosen["outcome"] == "done"


def test_panels_have_numbers_of_their_own_and_do_not_overlap() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for panel in panels
        for at in [panel["gridPos"]]
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
