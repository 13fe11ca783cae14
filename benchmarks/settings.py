"""The product's settings with counters, and the job kind of the fault suite."""

from tests.faults.settings import *  # noqa: F403
from tests.faults.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.counting.CountingConfig"]
