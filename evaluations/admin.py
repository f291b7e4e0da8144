"""The records that a site administrator may need to look at or mend."""

from django.contrib import admin

from evaluations.models import Criterion, Endpoint, EvaluationRun, Judge, Membership, Project, WorkerHeartbeat

for model in (Criterion, Endpoint, EvaluationRun, Judge, Membership, Project, WorkerHeartbeat):
    admin.site.register(model)
