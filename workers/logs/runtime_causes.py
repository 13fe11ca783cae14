"""Failures of a runtime: the lines that begin with `desk runtime:`, as `workers.runtimes` prints
them before a command begins."""

import re

from django.utils.translation import gettext_noop

from workers.logs.causes import Cause

DESK = "D"  # this product's own check


def _cause(code: str, pattern: str, headline: str, remedy: str) -> Cause:
    return Cause(f"runtime_{code}", re.compile(rf"^desk runtime: {pattern}$", re.MULTILINE),
                 headline, remedy, DESK)


RUNTIME_CAUSES = (
    _cause("script_missing", r"script-missing (?P<path>.+)",
           gettext_noop("The set-up script %(path)s is missing; the command did not begin."),
           gettext_noop("Put the script there, or correct its path in the job's runtime; for a "
                        "container the path inside counts.")),
    _cause("script_unreadable", r"script-unreadable (?P<path>.+)",
           gettext_noop("The set-up script %(path)s cannot be read; the command did not begin."),
           gettext_noop("Let the user of the job read it.")),
    _cause("script_failed", r"script-(?:failed|ended) (?P<status>\d+) (?P<path>.+)",
           gettext_noop("The set-up script %(path)s failed with status %(status)s; the command "
                        "did not begin."),
           gettext_noop("Source it by hand as the user of the job; what it printed stands above "
                        "that line of the log.")),
    _cause("conda_missing", r"conda-missing ?(?P<path>.*)",
           gettext_noop("No conda was found (%(path)s); the command did not begin."),
           gettext_noop("Name the folder of the conda installation in the runtime.")),
    _cause("conda_failed", r"conda-failed (?P<name>.+)",
           gettext_noop("The conda environment %(name)s cannot be activated; the command did not "
                        "begin."),
           gettext_noop("Compare the name with `conda env list` of the user of the job.")),
    _cause("modules_missing", r"modules-missing ?(?P<path>.*)",
           gettext_noop("The command `module` was not found (%(path)s); the job's command did not "
                        "begin."),
           gettext_noop("Name the modules' start file in the runtime, such as "
                        "/usr/share/modules/init/sh.")),
    _cause("module_failed", r"module-failed (?P<name>.+)",
           gettext_noop("The module %(name)s cannot be loaded; the command did not begin."),
           gettext_noop("Compare the name with `module avail`.")),
    _cause("folder_missing", r"folder-missing (?P<path>.+)",
           gettext_noop("The working folder %(path)s cannot be entered; the command did not "
                        "begin."),
           gettext_noop("Make the folder, or correct its path in the runtime.")),
)
