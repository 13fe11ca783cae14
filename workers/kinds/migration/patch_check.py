"""Static check of a migrated project (DOMAIN 4.2, rules of 5.2)."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.findings import kept_findings
from workers.kinds.node_scripts import run_script

BLOCKING = ngettext_noop(
    "%(blocking)d blocking finding (%(rules)s), %(warnings)d warnings.",
    "%(blocking)d blocking findings (%(rules)s), %(warnings)d warnings.", "blocking")
NONE_BLOCKING = ngettext_noop(
    "No blocking finding in %(files)d Python file, %(warnings)d warnings.",
    "No blocking finding in %(files)d Python files, %(warnings)d warnings.", "files")


@register
class PatchCheck(JobKind):
    code = "adapt.auto_patch_check"
    title = _("Automatic migration check")
    description = _("Looks for the import that switches the automatic migration on, and for code "
                    "that speaks against it.")
    success = _("No blocking finding.")
    stages = (Stage.TRAIN_ADAPT,)
    timeout_seconds = 1800
    usual_seconds = 20
    collect = judged_files = ("patch_check.report.json",)
    parameters: ClassVar = (
        Parameter("source", _("Source folder on the node"), "path"),
        Parameter("entry", _("Entry script"), "path"),
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"source": "~/projects/patched",
                                  "entry": "~/projects/patched/train.py"},
                                 {"blocking": 0, "warnings": 2}),)

    def argv(self, parameters):
        return run_script("patch_check", parameters["source"], parameters["entry"],
                          python=parameters["python"])

    def conclude(self, finished: Finished) -> Judgement:
        report = finished.report("patch_check")
        if finished.exit_status != 0 or not report:
            return Judgement(False, gettext_noop("The project could not be scanned."))
        rules = sorted({f["rule"] for f in report["findings"] if f["severity"] == "blocking"})
        facts = {"blocking": report["blocking"], "warnings": report["warnings"],
                 "files": report.get("files") or 0,
                 "rules": ", ".join(rules) or "–"}
        if not facts["files"]:
            return Judgement(False, gettext_noop(
                "The folder holds no Python file: nothing was looked at."), facts)
        results = {**facts, "findings": kept_findings(report["findings"])}
        if facts["blocking"]:
            return Judgement(False, BLOCKING, facts, results)
        return Judgement(True, NONE_BLOCKING, facts, results)
