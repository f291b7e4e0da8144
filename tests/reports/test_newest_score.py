"""The newest score of a judge counts, in every place that shows or uses scores."""

import pytest

pytestmark = pytest.mark.django_db
