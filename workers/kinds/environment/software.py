"""Versions of what is installed on a node (DOMAIN 4.1, rules of 5.1)."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import run_script
from workers.runtimes import software

FRAMEWORKS = ("torch", "torch-npu", "mindspore", "tensorflow")


@register
class Software(JobKind):
    code = "env.software"
    title = _("Installed software")
    description = _("Copies the version files of driver, firmware and CANN, and lists Python "
                    "packages and CANN's variables.")
    success = _("A version of the driver, of CANN or of a framework is known.")
    stages = (Stage.ENV,)
    needs_model = False
    timeout_seconds = 300
    usual_seconds = 15
    collect = ("software.report.json", "*.info", "*.cfg", "packages.txt")
    parameters: ClassVar = (
        Parameter("folders", _("Folders of the installation"), default="/usr/local/Ascend:~/Ascend",
                  help=_("Separated by colons.")),
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )
    good_run = GoodRun(log_shows=LogShows.NOTHING, files=("software.*",))
    practice_runs = (PracticeRun({"folders": "~/Ascend"},
                                 {"torch_npu": "2.1.0.post8", "driver": "24.1.rc3"}),)

    def argv(self, parameters):
        return run_script("software", parameters["folders"], python=parameters["python"])

    def conclude(self, finished: Finished) -> Judgement:
        if finished.exit_status != 0 or not finished.report("software"):
            return Judgement(False, gettext_noop("The installation could not be looked at."))
        versions = dict(_versions(finished))
        unread = [name for name in finished.files if name.endswith((".info", ".cfg"))
                  and name not in finished.readings]
        facts = {"which": ", ".join(f"{name} {found}" for name, found in versions.items()),
                 "n": len(versions), "unread": ", ".join(unread)}
        if not versions:
            return Judgement(False, gettext_noop(
                "Neither driver, CANN nor a framework was found; check the folders."), facts)
        if unread:
            return Judgement(True, gettext_noop(
                "Installed: %(which)s. Not recognised, and so not looked at: %(unread)s."),
                facts, {**facts, **versions})
        return Judgement(True, gettext_noop("Installed: %(which)s."), facts, {**facts, **versions})

    def after(self, job, finished):
        """Keep the versions with the node, or with the runtime that was looked at."""
        software.keep(job, **dict(_versions(finished)))


def _versions(finished: Finished):
    """(name, version) of what the copies and the list of packages name."""
    for reading in finished.of_kind("version_info"):
        component = str(reading.values.get("component") or "").lower()
        name = "cann" if "toolkit" in component or component == "cann" else component
        if name in ("cann", "driver", "firmware") and reading.values.get("version"):
            yield name, reading.values["version"]
        packages = reading.values.get("packages") or {}
        yield from ((found.replace("-", "_"), packages[found]) for found in FRAMEWORKS
                    if found in packages)
