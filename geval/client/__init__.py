"""A client of a site's HTTP API.

from geval.client import Client

site = Client("https://geval.example.org", token="geval_…")
project = site.project("mine")
project.request("POST", "/outputs", rows="outputs.jsonl")
project.start_run("G-Eval mini").wait()
frame = project.report_frame()

A program logs what its models write; this raises an error if the site cannot be reached:

site.log("mine", doc_id="q17", system="bot-3", source=question, output=answer)
"""

from geval.client.pulling import Pulled
from geval.client.replies import report_rows
from geval.client.requests import ApiError
from geval.client.site import Client, Project, Run

__all__ = ["ApiError", "Client", "Project", "Pulled", "Run", "report_rows"]
