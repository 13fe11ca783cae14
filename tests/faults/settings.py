"""The product's settings, and one more job kind whose runs the suite can count."""

from delivery.settings import *  # noqa: F403
from delivery.settings import INSTALLED_APPS

WHITENOISE_USE_FINDERS = True  # style sheets and scripts for --browse, without collectstatic
INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults.apps.FaultsConfig"]
