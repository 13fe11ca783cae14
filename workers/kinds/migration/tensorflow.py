"""TensorFlow scripts: scan and conversion with convert_tf2npu (DOMAIN 4.1)."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.node_scripts import FIND_TOOL

BELOW = "python/site-packages"  # of tfplugin: npu_device for TensorFlow 2, npu_bridge for 1.15
SCRIPT = FIND_TOOL + f"""
python=$1 tool=$2; shift 2
[ -n "$tool" ] || tool=$(find_tool convert_tf2npu/main.py {BELOW}/npu_device \\
    {BELOW}/npu_bridge) || exit 127
exec "$python" "$tool" "$@"
"""


@register
class TfScan(JobKind):
    code = "survey.tf_scan"
    title = _("TensorFlow script scan and migration")
    description = _("Scans and rewrites TensorFlow scripts with convert_tf2npu.")
    success = _("The log has its finish line; unsupported uses are counted from the reports.")
    stages = (Stage.SURVEY, Stage.TRAIN_ADAPT)
    timeout_seconds = 3600
    usual_seconds = 120
    collect = ("report/*", "report/*/*")
    parameters: ClassVar = (
        Parameter("tool", _("main.py of convert_tf2npu"), "path", is_required=False,
                  help=_("Empty: the one of the TF Adapter that is installed.")),
        Parameter("source", _("Source folder on the node"), "path"),
        Parameter("entry", _("Entry script"), "path",
                  help=_("Named beforehand, as the tool would otherwise ask for it.")),
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )

    def argv(self, parameters):
        p = parameters
        return ["sh", "-c", SCRIPT, "convert", p["python"], p["tool"] or "", "-i", p["source"],
                "-o", "converted", "-r", "report", "-m", p["entry"]]

    def judge(self, finished: Finished) -> Judgement:
        forms = {}
        for reading in finished.of_kind("tf_conversion"):
            forms.setdefault(reading.values.get("form"), reading.values)
        if not forms.get("log", {}).get("succeeded"):
            return Judgement(False, gettext_noop(
                "The conversion has no finish line; its reports are not counted."))
        facts = {"total": forms["log"].get("total") or 0,
                 "changes": forms.get("success", {}).get("changes", 0),
                 "failed": forms.get("failed", {}).get("rows", 0)}
        if facts["failed"]:
            return Judgement(False, gettext_noop(
                "%(failed)d uses of %(total)d are not supported on the NPU."), facts, facts)
        return Judgement(True, gettext_noop(
            "%(total)d API uses, %(changes)d places changed, none unsupported."), facts, facts)
