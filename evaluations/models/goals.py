"""The goals of runs and of campaigns, which end when they are reached."""

from django.db import models

LACKING = "This goal needs a value here."


class GoalKind(models.TextChoices):
    WIDTH = "width", "A judge's rho is known within ± the width"
    JUDGES = "judges", "It is known which of two judges is better"
    SYSTEMS = "systems", "It is known which of two systems is better"
