"""Migration by hand: every change on record, the migrated code kept (S4, DOMAIN 4.2)."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import run_script

# Ways of operator development (S1; CANN documentation: TBE and Ascend C for AI Core, AI CPU; ATB).
SUBJECTS = {
    "model": _("Code of the model"), "ascend_c": _("Custom operator, Ascend C"),
    "tbe": _("Custom operator, TBE"), "ai_cpu": _("Custom operator, AI CPU"),
    "atb": _("Operator or model of the ATB library"),
}


PLACES_CHANGED = ngettext_noop(
    "%(places)d place in %(files)d of %(compared)d files: %(added)d lines added, %(removed)d "
    "removed; %(left)d files are no text or too large and were not compared.",
    "%(places)d places in %(files)d of %(compared)d files: %(added)d lines added, "
    "%(removed)d removed; %(left)d files are no text or too large and were not "
    "compared.", "places")


@register
class CodeChanges(JobKind):
    code = "adapt.code_changes"
    title = _("Migration by hand: changes on record")
    description = _("Compares the sources with the migrated code: every changed place by file and "
                    "line, the whole as a diff, and the migrated code itself are kept.")
    success = _("Both folders hold text files, and at least one of them differs.")
    stages = (Stage.TRAIN_ADAPT, Stage.INFER_MIGRATE)
    usual_seconds = 60
    collect = ("changes.report.json", "migrated-code.diff", "migrated-code.tar.gz")
    judged_files = ("changes.report.json",)
    parameters: ClassVar = (
        Parameter("source", _("Folder of the sources"), "path",
                  help=_("As the customer handed them over.")),
        Parameter("migrated", _("Folder of the migrated code"), "path"),
        Parameter("subject", _("What was developed"), "choice", default="model",
                  choices=tuple(SUBJECTS), names=SUBJECTS),
        Parameter("note", _("What was done, and why"), is_required=False,
                  help=_("Kept with the list, for example device names, HCCL, data loading.")),
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"source": "~/data/inspect_net", "migrated": "~/projects/patched"},
                                 {"left": 0}),)

    def argv(self, parameters):
        p = parameters
        return run_script("code_changes", p["source"], p["migrated"], p["note"] or "",
                          python=p["python"])

    def conclude(self, finished: Finished) -> Judgement:
        report = finished.report("changes")
        if not report or not report["compared"]:
            return Judgement(False, gettext_noop("No text file was found: nothing was compared."))
        files = report["files"]
        facts = {"files": len(files), "compared": report["compared"],
                 "places": report["place_count"], "left": report["left_out"],
                 "added": sum(f["added"] for f in files),
                 "removed": sum(f["removed"] for f in files), "sha256": report["sha256"],
                 "names": [f["name"] for f in files[:50]],
                 "subject": finished.parameters.get("subject", "model")}
        if not files:
            return Judgement(False, gettext_noop(
                "None of %(compared)d files differs: no migration is on record."), facts, facts)
        return Judgement(True, PLACES_CHANGED, facts, facts)
