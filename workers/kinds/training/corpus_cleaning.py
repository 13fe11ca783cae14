"""What should not be in a training's corpus (S0 3.5.1: data cleaning)."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import run_script


@register
class CorpusCheck(JobKind):
    code = "adapt.corpus_check"
    title = _("Check of the training data")
    description = _("Looks for empty and repeated texts, control characters, texts in other "
                    "scripts, and passages of the test set; nothing is changed.")
    success = _("Every record was looked at; what was found is the result, also whether the test "
                "set was compared.")
    stages = (Stage.TRAIN_ADAPT, Stage.TRAIN_TUNE)
    timeout_seconds = 12 * 3600
    usual_seconds = 1800
    collect = judged_files = ("cleaning.report.json",)
    parameters: ClassVar = (
        Parameter("corpus", _("Corpus on the node"), "path",
                  help=_("One file: JSON lines, csv or text.")),
        Parameter("column", _("Column of the text"), default="text"),
        Parameter("tests", _("Test set"), "path", is_required=False,
                  help=_("In the same form. Empty: leakage is not looked for.")),
        Parameter("passage", _("Words of a passage"), "integer", default=13, minimum=3,
                  maximum=200, help=_("So many words in a row, or Chinese characters, that occur "
                                      "in both count as leaked; 13 is usual since GPT-3.")),
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )
    good_run = GoodRun(parameters={"tests": "~/test.jsonl"}, log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"corpus": "~/data/corpus.jsonl"}, {"rows": 200, "leaked": 0}),)

    def argv(self, parameters):
        p = parameters
        return run_script("corpus_check", p["corpus"], p["column"], p["tests"] or "",
                          str(p["passage"]), python=p["python"])

    def conclude(self, finished: Finished) -> Judgement:
        report = finished.report("cleaning")
        if not report or not report["rows"]:
            return Judgement(False, gettext_noop("No record was read; see the log."))
        scripts = report["scripts"]
        main = max(scripts, key=scripts.get) if scripts else "–"
        facts = {name: report[name] for name in (
            "rows", "missing", "empty", "repeated", "leaked", "control", "test_rows", "passage")}
        facts |= {"script": main, "other": sum(scripts.values()) - scripts.get(main, 0)}
        if facts["missing"] == facts["rows"]:
            return Judgement(False, gettext_noop(
                "None of %(rows)d records has that column: nothing was looked at."), facts, facts)
        return Judgement(True, TEXTS[bool(facts["test_rows"])], facts, facts)


TEXTS = {
    True: gettext_noop(
        "%(rows)d records: %(empty)d empty, %(missing)d without the column, %(repeated)d repeated, "
        "%(control)d with control characters, %(other)d not in %(script)s script; %(leaked)d share "
        "%(passage)d words in a row with one of %(test_rows)d records of the test set."),
    False: gettext_noop(
        "%(rows)d records: %(empty)d empty, %(missing)d without the column, %(repeated)d repeated, "
        "%(control)d with control characters, %(other)d not in %(script)s script. No test set was "
        "given: leakage was not looked for."),
}
