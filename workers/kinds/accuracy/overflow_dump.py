"""Overflow dumps of offline models (DOMAIN 4.5, 5.6)."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from workers.kinds.base import Finished, Judgement, register
from workers.kinds.training.project_script import COMMON, ProjectRun

CONFIG = '{"dump": {"dump_path": "output", "dump_debug": "on"}}'  # as acl.init reads it


@register
class OverflowDump(ProjectRun):
    code = "inf.overflow_dump"
    title = _("Overflow dump")
    description = _("Runs an inference script that calls acl.init(\"acl.json\"): operators that "
                    "overflow leave two files each.")
    success = _("The script ends with status 0; whether and where it overflowed is the result.")
    stages = (Stage.INFER_TUNE,)
    collect = ("output/*", "output/*/*", "acl.json")
    parameters: ClassVar = COMMON
    none_found = gettext_noop("The script ended with status %(status)s; see the log.")

    def argv(self, parameters):
        script = 'mkdir -p output && printf "%s\\n" "$1" > acl.json && shift && exec "$@"'
        return ["sh", "-c", script, "overflow", CONFIG, *super().argv(parameters)]

    def judge(self, finished: Finished) -> Judgement:
        if finished.exit_status != 0:
            return self.missing(finished)
        names = [name.rsplit("/", 1)[-1] for name in finished.files if name.startswith("output/")]
        states = [name for name in names if name.startswith("Opdebug.")]
        operators = sorted({name.split(".")[1] for name in names
                            if not name.startswith("Opdebug.") and "." in name})
        facts = {"n": len(states), "which": ", ".join(operators[:5]) or "–"}
        if not states:
            return Judgement(True, gettext_noop("No operator overflowed."), facts, facts)
        return Judgement(True, gettext_noop(
            "%(n)d overflows: %(which)s. Parse the files that begin with Opdebug."), facts, facts)
