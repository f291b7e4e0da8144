"""People's judgements: who rated what, and how."""

from django.apps import AppConfig


class AnnotationsConfig(AppConfig):
    name = "annotations"
