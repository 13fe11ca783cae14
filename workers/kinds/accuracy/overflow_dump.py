"""Overflow dumps of offline models (DOMAIN 4.5, 5.6)."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, Judgement, register
from workers.kinds.example_runs import PROJECT_SCRIPT, GoodRun, LogShows, PracticeRun
from workers.kinds.judgement import not_provable
from workers.kinds.training.project_script import COMMON, ProjectRun

CONFIG = '{"dump": {"dump_path": "output", "dump_debug": "on"}}'  # as acl.init reads it


USES_CONFIG = "desk: acl.json is used"
# A time of reading after the one that is set here, or the name in the script itself, shows it.
SCRIPT = f"""
mkdir -p output && printf "%s\\n" "$1" > acl.json && touch -a -d 2000-01-01 acl.json
script=$2; shift 2
"$@"; status=$?
[ "$(stat -c %X acl.json)" -lt 1000000000 ] && ! grep -qs acl.json "$script" \\
    || echo "{USES_CONFIG}"
exit $status
"""


NOT_LOOKED_AT = ngettext_noop(
    "%(files)d file lies in the dump folder, which is not known as a state of an overflow "
    "(Opdebug…): it was not looked at.",
    "%(files)d files lie in the dump folder, none of which is known as a state of an "
    "overflow (Opdebug…): they were not looked at.", "files")


@register
class OverflowDump(ProjectRun):
    code = "inf.overflow_dump"
    title = _("Overflow dump")
    description = _("Runs an inference script that calls acl.init(\"acl.json\"): operators that "
                    "overflow leave two files each.")
    success = _("The script ends with status 0, used an NPU and read acl.json; whether and where "
                "it overflowed is the result.")
    stages = (Stage.INFER_TUNE,)
    collect = ("output/*", "output/*/*", "acl.json")
    parameters: ClassVar = COMMON
    claims_device = True
    none_found = gettext_noop("The script ended with status %(status)s; see the log.")
    good_run = GoodRun(cards=1, log_shows=LogShows.DEVICE_ONLY, files=("*/Opdeb*",),
                       reads_content=False)
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "overflow"},
                                 {"n": 1, "which": "Gemm_7"}),)

    def argv(self, parameters):
        return ["sh", "-c", SCRIPT, "overflow", CONFIG, parameters["script"],
                *super().argv(parameters)]

    def conclude(self, finished: Finished) -> Judgement:
        if finished.exit_status != 0:
            return self.missing(finished)
        names = [name.rsplit("/", 1)[-1] for name in finished.files if name.startswith("output/")]
        states = [name for name in names if is_state(name)]
        operators = sorted({name.split(".")[1] for name in names
                            if not is_state(name) and "." in name})
        facts = {"n": len(states), "files": len(names), "which": ", ".join(operators[:5]) or "–"}
        if not states and names:
            return Judgement(False, NOT_LOOKED_AT, facts, facts)
        if not states and USES_CONFIG not in finished.log:
            return not_provable("dump", gettext_noop(
                "Not provable: no overflow was written, and nothing shows that the script passed "
                "acl.json to acl.init."), facts, facts)
        if not states:
            return Judgement(True, gettext_noop(
                "With the dump switched on, no operator that this run executed wrote an overflow."),
                facts, facts)
        return Judgement(True, OVERFLOWS[len(states) == 1], facts, facts)


def is_state(name: str) -> bool:
    """Whether a dump file holds the state of an overflow; the spelling varies (DOMAIN 8.2)."""
    return name.lower().startswith("opdebug.")


OVERFLOWS = {
    True: gettext_noop("1 overflow: %(which)s. Parse the file that begins with Opdebug."),
    False: ngettext_noop(
        "%(n)d overflow: %(which)s. Parse the files that begin with Opdebug.",
        "%(n)d overflows: %(which)s. Parse the files that begin with Opdebug.", "n"),
}
