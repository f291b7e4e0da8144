"""The site's settings for tests and the processes they start: as they are, with a password hash
that takes no time.

The real hash costs half a second for each user that a test makes or signs in; which hash it is, is
Django's business.
"""

from geval_site.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
