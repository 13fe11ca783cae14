"""Accuracy kinds with msprobe (DOMAIN 4.3). The verdict of the tool is shown, not believed."""

import re
from itertools import product
from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun

# Before 26 the framework comes first, and compare takes its two sides from a file (X4, X5).
MSPROBE = r"""
is_old() { msprobe --help 2>/dev/null | grep -q -e "-f {"; }
"""
CONFIG_CHECK = MSPROBE + """
if is_old; then set -- -f pytorch config_check "$@"; else set -- config_check "$@"; fi
exec msprobe "$@" -o check
"""
COMPARE = MSPROBE + r"""
is_old || exec msprobe compare -tp "$1" -gp "$2" -o compare
python3 -c 'import json, sys
json.dump({"npu_path": sys.argv[1], "bench_path": sys.argv[2], "is_print_compare_log": True},
          open("compare.json", "w", encoding="utf-8"), ensure_ascii=False)' "$1" "$2" || exit $?
exec msprobe -f pytorch compare -i compare.json -o compare
"""
STEP = re.compile(r"(?:^|/)step(\d+)(?=/|$)")  # folders of msprobe's dumps


@register
class ConfigCheck(JobKind):
    code = "acc.config_check"
    title = _("Configuration check before training")
    description = _("Compares the configuration packs of the GPU and the NPU run.")
    success = _("The comparison was written; differences are shown, not judged.")
    usual_seconds = 60
    stages = (Stage.TRAIN_TUNE,)
    timeout_seconds = 1800
    parameters: ClassVar = (
        Parameter("bench", _("Pack of the GPU run"), "path", takes=("acc.config_pack",),
                  help=_("zip written by ConfigChecker")),
        Parameter("candidate", _("Pack of the NPU run"), "path", takes=("acc.config_pack",),
                  help=_("zip written by ConfigChecker")),
    )
    collect = judged_files = ("check/*.xlsx", "check/*.csv", "check/*/*.xlsx")
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"bench": "~/data/config_gpu.zip",
                                  "candidate": "~/data/config_npu.zip"}),)

    def argv(self, parameters):
        return ["sh", "-c", CONFIG_CHECK, "msprobe", "-c", parameters["bench"],
                parameters["candidate"]]

    def conclude(self, finished: Finished) -> Judgement:
        readings = [reading for reading in finished.of_kind("config_check")
                    if "findings" in reading.values]
        if not readings:
            return Judgement(False, gettext_noop("msprobe wrote no comparison; see the log."))
        found = [finding for reading in readings for finding in reading.values["findings"]]
        parts = dict.fromkeys(name for r in readings for name in r.values["sheets"])
        missing = dict.fromkeys(name for r in readings for name in r.values["not_compared"]
                                if name not in parts)
        errors = sum(finding["level"] == "error" for finding in found)
        facts = {"n": len(found), "errors": errors, "warnings": len(found) - errors,
                 "which": ", ".join(finding["item"] for finding in found[:5]),
                 "parts": ", ".join(parts), "missing": ", ".join(missing)}
        return Judgement(bool(parts), CONFIGURATIONS[bool(parts), bool(found), bool(missing)],
                         facts, {**facts, "findings": found[:MOST_FINDINGS]})


MOST_FINDINGS = 500
NOTHING_COMPARED = gettext_noop("The comparison holds no part: nothing was compared.")
CONFIGURATIONS = {  # (has parts, has differences, some part is missing)
    **{(False, *rest): NOTHING_COMPARED for rest in product((True, False), repeat=2)},
    (True, True, False): ngettext_noop(
        "Differences to look at: %(errors)d error, %(warnings)d warnings (%(which)s); compared: "
        "%(parts)s.",
        "Differences to look at: %(errors)d errors, %(warnings)d warnings (%(which)s); "
        "compared: %(parts)s.", "errors"),
    (True, True, True): ngettext_noop(
        "Differences to look at: %(errors)d error, %(warnings)d warnings (%(which)s); compared: "
        "%(parts)s; not compared: %(missing)s.",
        "Differences to look at: %(errors)d errors, %(warnings)d warnings (%(which)s); "
        "compared: %(parts)s; not compared: %(missing)s.", "errors"),
    (True, False, False): gettext_noop("No difference in all that is compared: %(parts)s."),
    (True, False, True): gettext_noop(
        "No difference in %(parts)s; not compared: %(missing)s."),
}


NO_ROW_DEVIATES = ngettext_noop(
    "%(rows)d row; %(nonfinite)d not finite, %(unmatched)d without counterpart; none deviates.",
    "%(rows)d rows; %(nonfinite)d not finite, %(unmatched)d without counterpart; none deviates.",
    "rows")
FIRST_DEVIATING = ngettext_noop(
    "%(rows)d row; %(nonfinite)d not finite, %(unmatched)d without counterpart; first "
    "deviating: %(first)s.",
    "%(rows)d rows; %(nonfinite)d not finite, %(unmatched)d without counterpart; first "
    "deviating: %(first)s.", "rows")


@register
class Compare(JobKind):
    code = "acc.compare"
    title = _("Accuracy comparison")
    description = _("Compares two msprobe dumps, operator by operator.")
    success = _("The table was written; the figures count, not the tool's verdict.")
    usual_seconds = 600
    stages = (Stage.TRAIN_TUNE,)
    timeout_seconds = 4 * 3600
    parameters: ClassVar = (
        Parameter("target", _("Dump of the NPU run"), "path", takes=("acc.dump",),
                  help=_("dump.json or step folder")),
        Parameter("golden", _("Dump of the GPU run"), "path", takes=("acc.dump",),
                  help=_("The same step, and the same kind of path: both files or both folders.")),
    )
    collect = ("compare/*.csv", "compare/*.xlsx", "compare/*.txt", "compare/*.json")
    judged_files = ("compare/*.csv", "compare/*.xlsx")
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"target": "~/data/dump_npu/step0",
                                  "golden": "~/data/dump_gpu/step0"}),)

    def argv(self, parameters):
        return ["sh", "-c", COMPARE, "msprobe", parameters["target"], parameters["golden"]]

    def facts(self, parameters):
        steps = {side: STEP.findall(parameters[name])[-1:] for side, name in (
            ("dump_baseline", "golden"), ("dump_candidate", "target"))}
        return {side: {"step": int(found[0])} for side, found in steps.items() if found}

    def conclude(self, finished: Finished) -> Judgement:
        readings = finished.of_kind("accuracy_compare", tool="msprobe")
        if not readings:
            return Judgement(False, gettext_noop("msprobe wrote no comparison; see the log."))
        tables = [reading.values for reading in readings]
        facts = {"rows": sum(values.get("rows", 0) for values in tables), "n": len(tables),
                 "nonfinite": sum(_count(values.get("nonfinite")) for values in tables),
                 "unmatched": sum(_count(values.get("unmatched")) for values in tables),
                 "first": str(next(filter(None, (values.get("first_deviating")
                                                 for values in tables)), ""))}
        if not facts["rows"]:
            return Judgement(False, NOTHING_COMPARED, facts)
        if not facts["first"]:
            return Judgement(True, NO_ROW_DEVIATES, facts, facts)
        return Judgement(True, FIRST_DEVIATING, facts, facts)


def _count(value) -> int:
    return len(value) if isinstance(value, (list, tuple, dict)) else int(value or 0)
