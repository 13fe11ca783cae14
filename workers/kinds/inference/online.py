"""Online inference: the model answers inside its framework on the NPU (seed S2, DOMAIN 2.2)."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, Judgement, Parameter, register
from workers.kinds.example_runs import PROJECT_SCRIPT, GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import run_script
from workers.kinds.training.project_script import COMMON, ProjectRun

NOT_COMPARED = ngettext_noop(
    "%(n)d output; no reference was given, so none was compared.",
    "%(n)d outputs; no reference was given, so none was compared.", "n")
COMPARED = ngettext_noop(
    "%(n)d output compared with the reference: smallest cosine %(cosine)s, %(unlike)d other "
    "files differ.",
    "%(n)d outputs compared with the reference: smallest cosine %(cosine)s, %(unlike)d "
    "other files differ.", "n")


@register
class OnlineInference(ProjectRun):
    code = "inf.online_run"
    title = _("Online inference")
    description = _("Runs the project's inference in its framework and compares what it writes "
                    "with the outputs of the source platform: arrays (.npy) by cosine, other "
                    "files byte by byte.")
    success = _("Outputs were written, an NPU is proven to have been used, and each output that "
                "has a reference was compared with it; a criterion judges the cosine.")
    stages = (Stage.INFER_MIGRATE, Stage.INFER_TUNE)
    claims_device = True
    collect = judged_files = ("online.report.json",)
    none_found = gettext_noop("The inference wrote no output (status %(status)s).")
    parameters: ClassVar = (
        *COMMON,
        Parameter("outputs", _("Folder of the outputs"), "path", default="outputs",
                  help=_("Into which the script writes, in the job's folder.")),
        Parameter("reference", _("Folder of the reference outputs"), "path", is_required=False,
                  help=_("Of the source platform, with the same file names.")))
    good_run = GoodRun(parameters={"reference": "~/golden"}, cards=1,
                       log_shows=LogShows.DEVICE_ONLY)
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "infer"},
                                 {"n": 2, "compared": 0}),)

    def argv(self, parameters):
        p = parameters
        return run_script("online_inference", p["outputs"], p["reference"] or "",
                          *super().argv(p), python=p["python"])

    def conclude(self, finished: Finished) -> Judgement:
        report = finished.report("online")
        outputs = report.get("outputs") or []
        if finished.exit_status != 0 or not outputs:
            return self.missing(finished)
        compared = [entry["compared"] for entry in outputs if "compared" in entry]
        unlike = [entry["name"] for entry in outputs
                  if entry.get("compared", {}).get("same") is False]
        problems = [f"{entry['name']}: {entry['compared']['problem']}" for entry in outputs
                    if "problem" in entry.get("compared", {})]
        facts = {"n": len(outputs), "compared": len(compared), "unlike": len(unlike),
                 "cosine": report.get("min_cosine"), "missing": ", ".join(report["missing"][:5]),
                 "problem": "; ".join(problems[:5]), "nonfinite": report.get("nonfinite") or 0}
        if not report["has_reference"]:
            return Judgement(True, NOT_COMPARED, facts, facts)
        if facts["missing"] or problems or facts["nonfinite"] or len(compared) < len(outputs):
            return Judgement(False, gettext_noop(
                "%(compared)d of %(n)d outputs could be compared; %(nonfinite)d values are not "
                "finite; missing: %(missing)s; not comparable: %(problem)s."), facts, facts)
        return Judgement(True, COMPARED, facts, facts)
