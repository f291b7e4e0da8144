"""A client of the HTTP API: a method for each operation, typed, blocking and with `async`.

from geval.client import Client

site = Client("https://geval.example.org", token="geval_…")
project = site.project("mine")
project.load_outputs("outputs.jsonl")
run = project.start_run("G-Eval mini")
run.wait()
frame = project.report_frame()

The same operations are awaited with `AsyncClient`:

async with AsyncClient("https://geval.example.org", token="geval_…") as site:
    run = await site.project("mine").start_run("G-Eval mini")
    await run.wait()

A program logs what its models write, without waiting for the site:

site.log("mine", doc_id="q17", system="bot-3", source=question, output=answer)
"""

from geval.client.awaiting import AsyncClient, AsyncProject, AsyncRun
from geval.client.blocking import Client, Project, Run
from geval.client.pulling import Pulled
from geval.client.replies import report_rows
from geval.client.requests import ApiError

__all__ = [
    "ApiError", "AsyncClient", "AsyncProject", "AsyncRun", "Client", "Project", "Pulled", "Run",
    "report_rows",
]  # fmt: skip
