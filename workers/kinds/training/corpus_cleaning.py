"""What should not be in a training's corpus (S0 3.5.1: data cleaning)."""

import json
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
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
    good_run = GoodRun(parameters={"tests": "~/test.jsonl"}, log_shows=LogShows.NOTHING,
                       also_of=("adapt.corpus_clean",))
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


CLEANED = ngettext_noop(
    "%(rows)d record before, %(kept)d after the cleaning; removed: %(reasons)s.",
    "%(rows)d records before, %(kept)d after the cleaning; removed: %(reasons)s.", "rows")
SCRIPTS = {"Han": _("Chinese (Han)"), "Latin": _("Latin"), "Cyrillic": _("Cyrillic"),
           "Japanese": _("Japanese"), "Korean": _("Korean"), "Arabic": _("Arabic")}
# Figure of a record and its two parameters, the least and the most that stays.
LIMITS = {"words": ("least_words", "most_words"), "punctuation": (None, "most_punctuation"),
          "html": (None, "most_tags"), "links": (None, "most_links"),
          "repetition": (None, "most_repetition"),
          "perplexity": ("least_perplexity", "most_perplexity")}


def _limit(name, label, type_, default=None, help_="", maximum=1_000_000):
    return Parameter(name, label, type_, default=default, is_required=False, minimum=0,
                     maximum=maximum, help=help_)


@register
class CorpusClean(CorpusCheck):
    code = "adapt.corpus_clean"
    title = _("Cleaning of the training data")
    description = _("Removes records by language, length, punctuation, tags, links, listed words, "
                    "repetition, perplexity, repeated texts and passages of the test set; the "
                    "corpus itself stays as it is.")
    success = _("Every record was looked at, and at least one was kept; each that went stands in "
                "removed.jsonl with its reasons and figures.")
    collect = ("cleaning.report.json", "removed.jsonl")
    parameters: ClassVar = (
        *CorpusCheck.parameters[:4],
        Parameter("output", _("File to write"), "path", default="~/corpus/cleaned.jsonl"),
        Parameter("script", _("Language by its script"), "choice", is_required=False,
                  choices=tuple(SCRIPTS), names=SCRIPTS, help=_("Empty: all stay.")),
        _limit("least_words", _("Least words"), "integer", 5,
               _("Words, or Chinese characters, of a record.")),
        _limit("most_words", _("Most words"), "integer", 100_000),
        _limit("most_punctuation", _("Most punctuation"), "number", 0.3,
               _("Share of punctuation and symbols among the characters."), 1),
        _limit("most_tags", _("Most HTML tags"), "integer", 0),
        _limit("most_links", _("Most links"), "integer", 3),
        _limit("most_repetition", _("Most repetition"), "number", 0.3,
               _("Share of phrases that stand in the record before."), 1),
        Parameter("phrase", _("Words of a phrase"), "integer", default=5, minimum=1, maximum=50),
        Parameter("listed", _("Words that are not wanted"), "path", is_required=False,
                  help=_("A text file on the node, one word a line; a record with one goes.")),
        Parameter("reference", _("Reference for the perplexity"), "path", is_required=False,
                  help=_("Good text in the same form: a model of three characters is made of it. "
                         "Empty: perplexity is not computed. The report shows its spread.")),
        _limit("least_perplexity", _("Least perplexity"), "number"),
        _limit("most_perplexity", _("Most perplexity"), "number"),
        CorpusCheck.parameters[4],
    )
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"corpus": "~/data/corpus.jsonl", "output": "cleaned.jsonl",
                                  "reference": "~/data/corpus.jsonl"},
                                 {"rows": 200, "leaked": 0}),)

    def clean(self, values):
        p = super().clean(values)
        for low, high in LIMITS.values():
            if low and None not in (p[low], p[high]) and p[low] > p[high]:
                raise InvalidInput(gettext("The least is above the most: %(low)s and %(high)s.")
                                   % {"low": p[low], "high": p[high]})
        if not p["reference"] and (p["least_perplexity"] or p["most_perplexity"]):
            raise InvalidInput(gettext("Limits of perplexity need a reference text."))
        return p

    def argv(self, parameters):
        p = parameters
        limits = {figure: [p[low] if low else None, p[high]]
                  for figure, (low, high) in LIMITS.items()}
        asked = {"limits": limits, **{name: p[name] for name in (
            "output", "script", "phrase", "listed", "reference")}}
        return run_script("corpus_check", p["corpus"], p["column"], p["tests"] or "",
                          str(p["passage"]), json.dumps(asked), python=p["python"])

    def conclude(self, finished: Finished) -> Judgement:
        looked = super().conclude(finished)
        report = finished.report("cleaning")
        if not looked.is_success:
            return looked
        if "kept" not in report:
            return Judgement(False, gettext_noop("The corpus was looked at, but not cleaned."))
        reasons = report.get("reasons") or {}
        facts = {**looked.results, "kept": report["kept"], "removed": report["removed"],
                 "reasons": ", ".join(f"{name} {count}" for name, count in reasons.items()) or "–",
                 "sha256": report["sha256"]}
        if not facts["kept"]:
            return Judgement(False, gettext_noop(
                "None of %(rows)d records was kept: %(reasons)s."), facts, facts)
        return Judgement(True, CLEANED, facts, facts)
