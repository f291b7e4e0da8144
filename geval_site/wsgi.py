"""The site for a WSGI server: `gunicorn geval_site.wsgi`. Production settings unless GEVAL_MODE
says otherwise."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "geval_site.settings")

application = get_wsgi_application()

# Its imports need Django, which is set up here.
from evaluations.web.gate.refusals import Utf8Request  # noqa: E402

application.request_class = Utf8Request
