"""The site's settings for tests, the processes they start, and mypy: as they are, with a password
hash that takes no time.

The real hash costs half a second for each user that a test makes or signs in; which hash it is, is
Django's business.
"""

import os

# mypy in an editor has no environment of ours.
os.environ.setdefault("GEVAL_MODE", "local")

from geval_site.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
