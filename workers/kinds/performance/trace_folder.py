"""A profile for MindStudio Insight (DOMAIN 4.4).

What the viewer opens: MindStudio Insight 8.x, “导入数据”: a folder whose ASCEND_PROFILER_OUTPUT
holds trace_view.json or the .db of one rank each.
"""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import run_script
from workers.kinds.performance.analysis import PROFILE

MOST = 2 * 2**30  # bytes before packing


NO_TIMELINE = ngettext_noop(
    "%(without)d of %(n)d ranks has no timeline: %(which)s.",
    "%(without)d of %(n)d ranks have no timeline: %(which)s.", "without")
TOO_LARGE = ngettext_noop(
    "%(n)d rank, %(megabytes)s MB: too large for an archive; open %(folder)s on the node.",
    "%(n)d ranks, %(megabytes)s MB: too large for an archive; open %(folder)s on the "
    "node.", "n")
PACKED = ngettext_noop(
    "%(n)d rank, %(megabytes)s MB, packed for MindStudio Insight.",
    "%(n)d ranks, %(megabytes)s MB, packed for MindStudio Insight.", "n")


@register
class TraceFolder(JobKind):
    code = "perf.trace_folder"
    title = _("Profile for MindStudio Insight")
    description = _("Looks what a profile holds per rank and packs it for MindStudio Insight: "
                    "download profile-for-insight.zip, unpack it, and choose its folder under "
                    "“Import data”.")
    success = _("Every rank has a timeline (trace_view.json or a .db), and the archive was made.")
    stages = (Stage.TRAIN_TUNE, Stage.INFER_TUNE)
    timeout_seconds = 4 * 3600
    usual_seconds = 120
    collect = ("insight.report.json", "profile-for-insight.zip")
    judged_files = ("insight.report.json",)
    parameters: ClassVar = (
        PROFILE, Parameter("python", _("Python interpreter"), "path", default="python3"))
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"profile": "~/data/profile_npu"}, {"n": 2, "without": 0}),)

    def argv(self, parameters):
        return run_script("trace_folder", parameters["profile"], str(MOST),
                          python=parameters["python"])

    def conclude(self, finished: Finished) -> Judgement:
        report = finished.report("insight")
        ranks = report.get("ranks") or []
        if not ranks:
            return Judgement(False, gettext_noop(
                "No ASCEND_PROFILER_OUTPUT lies below the folder: nothing can be opened."))
        without = [rank for rank in ranks
                   if "trace_view.json" not in rank["files"] and not rank["databases"]]
        facts = {"n": len(ranks), "without": len(without), "folder": report["folder"],
                 "megabytes": f"{report['bytes'] / 2**20:.1f}",
                 "which": ", ".join(rank["folder"] for rank in without[:5]) or "–"}
        if without:
            return Judgement(False, NO_TIMELINE, facts, facts)
        if not report["packed"] or "profile-for-insight.zip" not in finished.files:
            return Judgement(True, TOO_LARGE, facts, facts)
        return Judgement(True, PACKED, facts, facts)
