"""Accuracy of offline models with msaccucmp.py (DOMAIN 4.3). Its status 2 is usual."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import FIND_TOOL

TOOL = Parameter("tool", _("msaccucmp.py on the node"), "path", is_required=False,
                 help=_("Empty: the one of the CANN that is installed."))
SCRIPT = FIND_TOOL + """
python=$1 tool=$2; shift 2; mkdir -p result
[ -n "$tool" ] || tool=$(find_tool msaccucmp.py tools/operator_cmp/compare \\
    toolkit/tools/operator_cmp/compare) || exit 127
exec "$python" "$tool" "$@" -out result
"""
AS_TEXT = r"""
python=$1; shift; "$@"; status=$?
"$python" -c 'import glob, numpy
for path in glob.glob("result/*.npy"):
    numpy.savetxt(path[:-4] + ".txt", numpy.load(path).reshape(-1), fmt="%.9g")' || exit $?
exit $status
"""
PYTHON = Parameter("python", _("Python interpreter"), "path", default="python3")


class _Msaccucmp(JobKind):
    stages = (Stage.INFER_TUNE, Stage.INFER_MIGRATE)
    expected_statuses = (0, 2)
    timeout_seconds = 4 * 3600
    usual_seconds = 300
    command: ClassVar[str]

    def options(self, parameters) -> list[str]:
        raise NotImplementedError

    def argv(self, parameters):
        return ["sh", "-c", SCRIPT, self.command, parameters["python"], parameters["tool"] or "",
                self.command, *self.options(parameters)]


@register
class OverflowParse(_Msaccucmp):
    code = "acc.overflow_parse"
    title = _("Overflow data")
    description = _("Turns an overflow debug file into JSON and decodes its status bits.")
    success = _("A JSON file was written whose status can be read.")
    command = "convert"
    collect = judged_files = ("result/*.json",)
    parameters: ClassVar = (
        Parameter("dump", _("Overflow debug file"), "path",
                  help=_("Its name begins with Opdebug.")), TOOL, PYTHON)
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"tool": "~/projects/msaccucmp.py",
                                  "dump": "~/data/Opdebug.Node_OpDebug.1.5.1732082705999000"},
                                 {"blocks": "AIC", "status": 16, "task": 65}),)

    def options(self, parameters):
        return ["-d", parameters["dump"]]

    def conclude(self, finished: Finished) -> Judgement:
        readings = [*finished.of_form("opdebug"), *finished.of_form("opdebug_new")]
        if not readings:
            return Judgement(False, gettext_noop("The overflow data could not be read."))
        values = readings[0].values
        facts = {"blocks": ", ".join(values["overflow_blocks"]) or "–",
                 "status": values["status"], "task": values["task_id"],
                 "looked": ", ".join(block["block"] for block in values["blocks"])}
        if not values["blocks"]:
            return Judgement(False, gettext_noop(
                "The file names no computing unit: nothing was looked at."), facts)
        if not values["overflow"]:
            return Judgement(True, gettext_noop(
                "No overflow is recorded in %(looked)s."), facts, facts)
        return Judgement(True, gettext_noop(
            "Overflow in %(blocks)s, status %(status)s, task %(task)s."), facts, facts)


WRITTEN = ngettext_noop(
    "%(n)d tensor was written.",
    "%(n)d tensors were written.", "n")


@register
class DumpToNpy(_Msaccucmp):
    code = "acc.dump_to_npy"
    title = _("Dump to numpy")
    description = _("Turns dump files of the device into .npy files, and into text where asked.")
    success = _("At least one .npy file was written.")
    command = "convert"
    collect = ("result/*.npy", "result/*.txt")
    parameters: ClassVar = (
        Parameter("dump", _("Dump file or folder"), "path"),
        Parameter("as_text", _("Also as text"), "flag", default=False,
                  help=_("One number a line, beside each .npy; needs numpy.")), TOOL, PYTHON)
    good_run = GoodRun(log_shows=LogShows.NOTHING, reads_content=False)
    practice_runs = (PracticeRun({"tool": "~/projects/msaccucmp.py", "dump": "~/data/om_npu",
                                  "as_text": True}, {"n": 3}),)

    def argv(self, parameters):
        command = super().argv(parameters)
        if not parameters["as_text"]:
            return command
        return ["sh", "-c", AS_TEXT, "text", parameters["python"], *command]

    def options(self, parameters):
        return ["-d", parameters["dump"], "-v", "2"]

    def conclude(self, finished: Finished) -> Judgement:
        written = [name for name in finished.files if name.endswith(".npy")]
        if not written:
            return Judgement(False, gettext_noop("No tensor was written; see the log."))
        return Judgement(True, WRITTEN, {"n": len(written)}, {"n": len(written)})


NONE_DEVIATES = ngettext_noop(
    "%(rows)d tensor compared; none deviates.",
    "%(rows)d tensors compared; none deviates.", "rows")
FIRST_DEVIATING = ngettext_noop(
    "%(rows)d tensor compared; first deviating: %(first)s.",
    "%(rows)d tensors compared; first deviating: %(first)s.", "rows")


@register
class OmCompare(_Msaccucmp):
    code = "acc.om_compare"
    title = _("Offline model accuracy")
    description = _("Compares the dump of an offline model with a reference, node by node.")
    success = _("The table was written; the first deviating tensor is shown.")
    command = "compare"
    stages = (Stage.INFER_TUNE, Stage.INFER_MIGRATE, Stage.TRAIN_TUNE)  # also TensorFlow's dumps
    collect = ("result/*.csv", "result/*.txt")
    judged_files = ("result/*.csv",)
    parameters: ClassVar = (
        Parameter("dump", _("Dump of the NPU run"), "path"),
        Parameter("golden", _("Dump of the reference"), "path"),
        Parameter("graph", _("Graph of the offline model (JSON)"), "path", is_required=False,
                  help=_("As atc --mode=1 --om=… --json=… writes it: it maps fused operators.")),
        TOOL, PYTHON)
    good_run = GoodRun(status=2, log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"tool": "~/projects/msaccucmp.py", "dump": "~/data/om_npu",
                                  "golden": "~/data/om_golden"}, {"rows": 3}),)

    def options(self, parameters):
        graph = ["-f", parameters["graph"]] if parameters["graph"] else []
        return ["-m", parameters["dump"], "-g", parameters["golden"], *graph]

    def conclude(self, finished: Finished) -> Judgement:
        readings = finished.of_kind("accuracy_compare", tool="msaccucmp")
        if not readings:
            return Judgement(False, gettext_noop("msaccucmp wrote no table; see the log."))
        values = readings[0].values
        if not values.get("rows"):
            return Judgement(False, gettext_noop("The table holds no row: nothing was compared."))
        facts = {"rows": values["rows"],
                 "first": str(values.get("first_deviating") or "")}
        if not facts["first"]:
            return Judgement(True, NONE_DEVIATES, facts, facts)
        return Judgement(True, FIRST_DEVIATING, facts, facts)
