"""Analyses of profiles with msprof-analyze, tuning with AOE (DOMAIN 4.4).

msprof-analyze ends with status 0 even on empty input: only the files it wrote count.
"""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from toolreaders.conversion.aoe import is_finished
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.model_formats import FRAMEWORK
from workers.kinds.tuning_gain import gained

TUNED = {"1": _("Sub-graphs"), "2": _("Operators")}  # --job_type of aoe
PROFILE = Parameter("profile", _("Folder of the profile"), "path", takes=("perf.profile",),
                    help=_("A folder that ends in _ascend_pt, or the folder of several."))


class _Analysis(JobKind):
    stages = (Stage.TRAIN_TUNE,)
    timeout_seconds = 4 * 3600
    usual_seconds = 300
    form: ClassVar[str]

    def found(self, finished: Finished) -> dict:
        """Values of the written file of this kind's form; the console does not count."""
        return next((reading.values for name, reading in finished.readings.items()
                     if name != "log.txt" and reading.values.get("form") == self.form), {})

    def nothing(self) -> Judgement:
        return Judgement(False, gettext_noop(
            "msprof-analyze wrote no result; its status says nothing. See the log."))


NO_PROBLEM = ngettext_noop(
    "No problem in the %(sheets)d sheet that the advisor wrote.",
    "No problem in the %(sheets)d sheets that the advisor wrote.", "sheets")
PROBLEMS = ngettext_noop(
    "%(n)d problem: %(which)s.",
    "%(n)d problems: %(which)s.", "n")


@register
class Advisor(_Analysis):
    code = "perf.advisor"
    title = _("Performance advice")
    description = _("msprof-analyze advisor: problems of a profile and what to do about them.")
    success = _("The workbook with the problems was written.")
    form = "msprof_analyze_advisor"
    parameters: ClassVar = (PROFILE,)
    collect = ("advice/*.html", "advice/*.xlsx", "advice/*/*.xlsx")
    judged_files = ("advice/*.xlsx",)
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"profile": "~/data/profile_npu"}, {"n": 1}),)

    def argv(self, parameters):
        return ["msprof-analyze", "advisor", "all", "-d", parameters["profile"], "-o", "advice"]

    def conclude(self, finished: Finished) -> Judgement:
        values = self.found(finished)
        if not values:
            return self.nothing()
        problems = values["problems"]
        facts = {"n": len(problems), "which": ", ".join(problems[:5]) or "–",
                 "sheets": len(values["sheets"]), **values["shares"]}
        if not problems:
            return Judgement(True, NO_PROBLEM, facts, facts)
        return Judgement(True, PROBLEMS, facts, facts)


SLOWER = ngettext_noop(
    "%(n)d of %(rows)d indexes is slower than the base, most of all %(worst)s.",
    "%(n)d of %(rows)d indexes are slower than the base, most of all %(worst)s.", "n")


@register
class Compare(_Analysis):
    code = "perf.compare"
    title = _("Performance comparison")
    description = _("msprof-analyze compare: where a profile is slower than its base.")
    success = _("The workbook with the comparison was written.")
    form = "msprof_analyze_compare"
    parameters: ClassVar = (
        PROFILE, Parameter("base", _("Folder of the base's profile"), "path",
                           takes=("perf.profile",)))
    collect = judged_files = ("compare/*.xlsx",)
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"profile": "~/data/profile_npu", "base": "~/data/profile_gpu"},
                                 {"n": 1, "rows": 3, "worst": "Computing Time"}),)

    def argv(self, parameters):
        return ["msprof-analyze", "compare", "-d", parameters["profile"], "-bp",
                parameters["base"], "--output_path", "compare"]

    def conclude(self, finished: Finished) -> Judgement:
        metrics = self.found(finished).get("metrics")
        if not metrics:
            return self.nothing()
        slower = [row for row in metrics if (row["ratio"] or 0) > 1]
        worst = max(slower, key=lambda row: (row["comparison_ms"] or 0) - (row["base_ms"] or 0),
                    default=None)
        facts = {"n": len(slower), "rows": len(metrics), "worst": worst["index"] if worst else "–"}
        if not slower:
            return Judgement(True, gettext_noop(
                "None of %(rows)d indexes is slower than the base."), facts, facts)
        return Judgement(True, SLOWER, facts, facts)


@register
class Cluster(_Analysis):
    code = "perf.cluster"
    title = _("Cluster analysis")
    description = _("msprof-analyze over all ranks: slow ranks and slow links.")
    success = _("The table of the ranks' step times was written.")
    form = "cluster_step_trace_time"
    parameters: ClassVar = (PROFILE,)
    collect = ("cluster_analysis_output/*.csv", "cluster_analysis_output/*.json")
    judged_files = ("cluster_analysis_output/cluster_step_trace_time.csv",)
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"profile": "~/data/profile_npu"}, {"rows": 2}),)

    def argv(self, parameters):
        return ["msprof-analyze", "-m", "all", "-d", parameters["profile"], "-o", "."]

    def conclude(self, finished: Finished) -> Judgement:
        values = self.found(finished)
        if not values.get("rows"):
            return self.nothing()
        return Judgement(True, gettext_noop("Step times of %(rows)d ranks and steps."),
                         {"rows": values["rows"]}, {"rows": values["rows"]})


@register
class Aoe(JobKind):
    code = "perf.aoe"
    title = _("AOE tuning")
    description = _("Tunes a model for the offline model that is made of it: its sub-graphs or "
                    "its operators.")
    success = _("The report says that the tuning succeeded, and the model is not slower than "
                "before; what it gained is shown.")
    stages = (Stage.INFER_TUNE,)
    timeout_seconds = 48 * 3600
    usual_seconds = 2 * 3600
    cards = 1
    collect = ("aoe_result_*.json", "*/aoe_result_*.json", "*.om")
    judged_files = ("*aoe_result_*.json",)
    claims_device = True
    parameters: ClassVar = (
        Parameter("model_file", _("Model file on the node"), "path"),
        FRAMEWORK,
        Parameter("job_type", _("What is tuned"), "choice", default="2", choices=tuple(TUNED),
                  names=TUNED),
    )
    good_run = GoodRun(cards=1)
    practice_runs = (PracticeRun({"model_file": "~/data/model.onnx"}),)

    def argv(self, parameters):
        script = 'm=$1; shift; exec aoe --model="$m" --output=tuned "$@"'
        return ["sh", "-c", script, "aoe", parameters["model_file"],
                f"--framework={parameters['framework']}", f"--job_type={parameters['job_type']}"]

    def device_in(self, finished):
        """AOE measures on the device it tunes for: its report proves that there was one."""
        return super().device_in(finished) or (
            "aoe" if finished.of_kind("performance_tuning") else "")

    def conclude(self, finished: Finished) -> Judgement:
        """A report alone does not count: a run that died may have written one before."""
        report = next((reading.values for reading in finished.of_kind("performance_tuning")
                       if reading.values.get("form") == "aoe_result"), None)
        ended = finished.exit_status == 0 and is_finished(finished.log)
        if not ended or not report or report["succeeded"] is not True:
            return Judgement(False, gettext_noop("The tuning did not succeed; see the log."))
        return gained(report)
