"""The product's settings, and one more job kind whose runs the suite can count."""

from delivery.settings import *  # noqa: F403
from delivery.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults.apps.FaultsConfig"]
