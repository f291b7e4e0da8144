"""The Celery application. Tasks live in each app's tasks.py and call one function each."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "geval_site.settings")

app = Celery("geval_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
