"""TensorFlow scripts: scan and conversion with convert_tf2npu (DOMAIN 4.1).

An empty report means that there was nothing to report: the command names those at its end. The log
repeats what the reports list, so that one of another layout cannot hide it.
"""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import PracticeRun
from workers.kinds.node_scripts import FIND_TOOL

BELOW = "python/site-packages"  # of tfplugin: npu_device for TensorFlow 2, npu_bridge for 1.15
REPORTS = ("api_brief_report.txt", "success_report.txt")  # of every release of the tool
SCRIPT = FIND_TOOL + f"""
python=$1 tool=$2; shift 2
[ -n "$tool" ] || tool=$(find_tool convert_tf2npu/main.py {BELOW}/npu_device \\
    {BELOW}/npu_bridge) || exit 127
"$python" "$tool" "$@"; status=$?
find report -type f -size 0 | sed 's/^/desk: empty /'
exit $status
"""


@register
class TfScan(JobKind):
    code = "survey.tf_scan"
    title = _("TensorFlow script scan and migration")
    description = _("Scans and rewrites TensorFlow scripts with convert_tf2npu.")
    success = _("The log has its finish line, every report was read, and none lists an unsupported "
                "use.")
    stages = (Stage.SURVEY, Stage.TRAIN_ADAPT)
    timeout_seconds = 3600
    usual_seconds = 120
    collect = ("report/*", "report/*/*")
    judged_files = ("report/*_report.txt", "report/*.xlsx")
    parameters: ClassVar = (
        Parameter("tool", _("main.py of convert_tf2npu"), "path", is_required=False,
                  help=_("Empty: the one of the TF Adapter that is installed.")),
        Parameter("source", _("Source folder on the node"), "path"),
        Parameter("entry", _("Entry script"), "path",
                  help=_("Named beforehand, as the tool would otherwise ask for it.")),
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )
    practice_runs = (PracticeRun({"tool": "~/projects/convert_tf2npu/main.py",
                                  "source": "~/data/tf_net", "entry": "~/data/tf_net/train.py"},
                                 {"total": 4, "changes": 2, "failed": 0}),)

    def argv(self, parameters):
        p = parameters
        return ["sh", "-c", SCRIPT, "convert", p["python"], p["tool"] or "", "-i", p["source"],
                "-o", "converted", "-r", "report", "-m", p["entry"]]

    def conclude(self, finished: Finished) -> Judgement:
        forms: dict[str, dict] = {}
        for reading in finished.of_kind("tf_conversion"):
            forms.setdefault(str(reading.values.get("form")), reading.values)
        log = forms.get("log", {})
        if not log.get("succeeded"):
            return Judgement(False, gettext_noop(
                "The conversion has no finish line; its reports are not counted."))
        names = {name.rsplit("/", 1)[-1] for name in finished.files}
        if missing := [name for name in REPORTS if name not in names]:
            return Judgement(False, gettext_noop(
                "The reports %(which)s were not written: what they would list is not known."),
                {"which": ", ".join(missing)})
        # Unknown: the vendor still analyses their support, or they are in no class at all.
        classes = log["classes"]
        unclassed = max(0, (log.get("total") or 0) - log["sum_of_classes"])
        facts = {"total": log.get("total") or 0, "files": max(log["files"], log["files_finished"]),
                 "changes": forms.get("success", {}).get("changes", 0),
                 "failed": max(_unsupported(values) for values in forms.values()),
                 "unknown": classes.get("Analysing", 0) + classes.get("NA", 0) + unclassed,
                 "deprecated": classes.get("Deprecated", 0),
                 "skipped": ", ".join(log["skipped_files"][:3])}
        return _of_counts(facts, log)


def _unsupported(values: dict) -> int:
    """Unsupported uses that a report or the log counts or lists, whichever are more."""
    return max(values.get("unsupported") or 0, sum((values.get("unsupported_apis") or {}).values()))


UNSUPPORTED = ngettext_noop(
    "%(failed)d use of %(total)d is not supported on the NPU.",
    "%(failed)d uses of %(total)d are not supported on the NPU.", "failed")
NONE_UNSUPPORTED = ngettext_noop(
    "None unsupported among %(total)d API use in %(files)d files; of %(unknown)d the support "
    "is not known, %(deprecated)d are deprecated; %(changes)d places changed.",
    "None unsupported among %(total)d API uses in %(files)d files; of %(unknown)d the "
    "support is not known, %(deprecated)d are deprecated; %(changes)d places changed.", "total")


def _of_counts(facts: dict, log: dict) -> Judgement:
    if facts["failed"]:
        return Judgement(False, UNSUPPORTED, facts, facts)
    if not facts["files"] or log.get("total") is None:
        return Judgement(False, gettext_noop(
            "The log names no file or no number of API uses: nothing is known of them."))
    if facts["skipped"]:
        return Judgement(False, gettext_noop(
            "Not converted: %(skipped)s. What these files use is not known; in the others none of "
            "%(total)d API uses is unsupported."), facts, facts)
    return Judgement(True, NONE_UNSUPPORTED, facts, facts)
