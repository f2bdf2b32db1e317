"""The product's settings, with everything a test run may touch in a folder of its own.

pytest loads this module before anything of Django's, first in the process that a person
started and then in each of its workers, which inherit the environment.
"""

import os

from tests.database import prepare_environment

prepare_environment(os.environ)

from routines_app.settings import *  # noqa: E402, F403

# Hashing that is slow on purpose would be most of what many tests wait for.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
