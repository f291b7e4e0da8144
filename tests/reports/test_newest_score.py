"""The newest score of a judge counts, in every place that shows or uses scores."""

from decimal import Decimal

import pytest
from django.test import Client

from annotations.models import Campaign, CampaignKind
from annotations.planning.selection import project_outputs, scores_on_scale
from django.db import connection
from evaluations.models import CandidateOutput, Criterion, EvaluationRun, Judge, Project, Score
from evaluations.reports.data import load_data
from evaluations.reports.side_by_side import side_by_side
from evaluations.runs.corpus_view import _scores

pytestmark = pytest.mark.django_db
