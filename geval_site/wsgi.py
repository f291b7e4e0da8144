"""The site for a WSGI server: `gunicorn geval_site.wsgi`. Production settings unless GEVAL_MODE
says otherwise."""

import os

from django.core.wsgi import get_wsgi_application

from geval_site import telemetry

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "geval_site.settings")

telemetry.start()
application = get_wsgi_application()

# Its imports need Django, which is set up here.
from evaluations.web.gate.refusals import Utf8Request  # noqa: E402

application.request_class = Utf8Request
