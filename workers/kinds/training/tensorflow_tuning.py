"""TensorFlow on the NPU: dump of a step, tuning of a training with AOE (S0 3.5.2).

Options: “TensorFlow 网络模型迁移和训练指南” (dump_config of NPURunConfig), CANN 9.0 environment
variable AOE_MODE: 1 sub-graphs, 2 operators, 4 gradients.
"""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from workers.kinds.base import Finished, Judgement, Parameter, register
from workers.kinds.example_runs import PROJECT_SCRIPT, GoodRun, LogShows, PracticeRun
from workers.kinds.training.project_script import COMMON, TF_PRECISION, ProjectRun
from workers.kinds.tuning_gain import gained

MODES = {"1": _("Sub-graphs"), "2": _("Operators"), "4": _("Splitting of the gradients")}


@register
class TensorflowDump(ProjectRun):
    code = "acc.tf_dump"
    title = _("TensorFlow accuracy dump")
    description = _("Runs the script, which is to set dump_config=DumpConfig(enable_dump=True, "
                    "dump_path=os.environ[\"NPU_DUMP_PATH\"], dump_step=os.environ"
                    "[\"NPU_DUMP_STEP\"], dump_mode=\"all\"); compare it with the reference's dump "
                    "by “Offline model accuracy”.")
    success = _("The script ended with status 0 and left dump files of at least one operator.")
    stages = (Stage.TRAIN_TUNE,)
    collect = ("dump/*", "dump/*/*", "dump/*/*/*", "dump/*/*/*/*", "dump/*/*/*/*/*")
    parameters: ClassVar = (
        *COMMON, Parameter("step", _("Step"), default="0",
                           help=_("As dump_step takes it: numbers and ranges, such as 0|5|10-12.")),
        TF_PRECISION)
    none_found = gettext_noop("No dump was written (status %(status)s).")
    good_run = GoodRun(cards=1, log_shows=LogShows.NOTHING, reads_content=False)
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "tf_dump"}, {"n": 2}),)

    def environment(self, parameters):
        return {**super().environment(parameters), "NPU_DUMP_PATH": "dump",
                "NPU_DUMP_STEP": parameters["step"]}

    def argv(self, parameters, meeting=None):
        return ["sh", "-c", 'mkdir -p dump && exec "$@"', "dump",
                *super().argv(parameters, meeting)]

    def conclude(self, finished: Finished) -> Judgement:
        names = [name.rsplit("/", 1)[-1] for name in finished.files if name.startswith("dump/")]
        operators = sorted({name.split(".")[1] for name in names if name.count(".") >= 4})
        if finished.exit_status != 0 or not operators:
            return self.missing(finished)
        facts = {"files": len(names), "n": len(operators), "first": operators[0]}
        return Judgement(True, gettext_noop(
            "%(files)d files of %(n)d operators were dumped, first by name: %(first)s."),
            facts, facts)


@register
class AoeTraining(ProjectRun):
    code = "perf.aoe_train"
    title = _("AOE tuning of a TensorFlow training")
    description = _("Runs the training with AOE_MODE: AOE tunes while it runs. Train again without "
                    "it afterwards and compare.")
    success = _("The script ended with status 0, AOE's report says that the tuning succeeded, and "
                "it is not slower than before.")
    stages = (Stage.TRAIN_TUNE,)
    timeout_seconds = 48 * 3600
    usual_seconds = 4 * 3600
    collect = ("aoe_result_*.json", "*/aoe_result_*.json")
    judged_files = ("*aoe_result_*.json",)
    claims_device = True
    parameters: ClassVar = (
        *COMMON, Parameter("mode", _("What is tuned"), "choice", default="2", choices=tuple(MODES),
                           names=MODES, help=_("A2 takes 2 and 4, A3 takes 2.")),
        TF_PRECISION)
    none_found = gettext_noop("AOE left no report (status %(status)s).")
    good_run = GoodRun(cards=1, log_shows=LogShows.NOTHING, also_of=("perf.aoe",))
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "aoe_train",
                                  "mode": "2"}),)

    def environment(self, parameters):
        return {**super().environment(parameters), "AOE_MODE": parameters["mode"]}

    def device_in(self, finished):
        """AOE measures on the device: its report proves that there was one."""
        return super().device_in(finished) or (
            "aoe" if finished.of_kind("performance_tuning") else "")

    def conclude(self, finished: Finished) -> Judgement:
        report = next((values for values in self.files(finished, "performance_tuning")
                       if values.get("form") == "aoe_result"), None)
        if report is None or finished.exit_status != 0:
            return self.missing(finished)
        if report["succeeded"] is not True:
            return Judgement(False, gettext_noop("The tuning did not succeed; see the log."))
        return gained(report)
