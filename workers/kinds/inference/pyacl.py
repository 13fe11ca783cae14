"""Programs of the desk's own with pyACL: offline model under its profiler, retrieval of features.

Calls: CANN 8.x/9.x, “acl Python API” (acl.prof for subscription and msproftx, acl.fv), and
hicann/runtime's binding of it (prof_wrap, fv_retrieval).
"""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import run_script, script
from workers.kinds.performance.profiling import EXPORTED

SUBSCRIPTION, MARKS = "subscription", "marks"
WAYS = {SUBSCRIPTION: _("Subscription: time of every operator, kept as a table"),
        MARKS: _("Marks of msproftx around every loop, with the tables of msprof")}
PYTHON = Parameter("python", _("Python interpreter"), "path", default="python3")
OPERATORS = ngettext_noop(
    "%(n)d call of an operator; %(top)s takes %(share)s %% of the time.",
    "%(n)d calls of operators; %(top)s takes %(share)s %% of the time.", "n")
MARKED = ngettext_noop(
    "%(n)d call of an operator; %(top)s takes %(share)s %% of the time; %(marks)d marks.",
    "%(n)d calls of operators; %(top)s takes %(share)s %% of the time; %(marks)d marks.", "n")


class _Pyacl(JobKind):
    timeout_seconds = 3600
    usual_seconds = 120
    cards = 1
    claims_device = True


@register
class OmProfile(_Pyacl):
    code = "inf.om_profile"
    title = _("Offline model under pyACL's profiler")
    description = _("Runs an offline model on zeros and keeps what acl.prof tells of it: the "
                    "subscribed times of its operators, or msproftx marks with msprof's tables.")
    success = _("At least one operator has its time; with marks, every loop has its mark.")
    stages = (Stage.INFER_TUNE,)
    collect = judged_files = ("subscription.csv", *EXPORTED)
    parameters: ClassVar = (
        Parameter("model_file", _("Offline model on the node"), "path"),
        Parameter("way", _("How it is profiled"), "choice", default=SUBSCRIPTION,
                  choices=tuple(WAYS), names=WAYS),
        Parameter("loop", _("Loops"), "integer", default=10, minimum=1, maximum=10_000),
        PYTHON,
    )
    good_run = GoodRun(cards=1, log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"model_file": "~/data/model.onnx", "loop": 2}, {"n": 6}),
                     PracticeRun({"model_file": "~/data/model.onnx", "loop": 2, "way": MARKS},
                                 {"n": 6, "marks": 2}))

    def argv(self, parameters):
        p = parameters
        run = '"$@" || exit $?; [ "$0" = subscription ] || exec msprof --export=on --output=.'
        return ["sh", "-c", run, p["way"], p["python"], "-c", script("acl_model"),
                p["model_file"], p["way"], str(p["loop"])]

    def device_in(self, finished):
        """Times of operators come from the device."""
        return super().device_in(finished) or (
            "acl.prof" if _of(finished, "acl_subscription") or _of(finished, "op_summary") else "")

    def conclude(self, finished: Finished) -> Judgement:
        p = finished.parameters
        tables = _of(finished, "acl_subscription" if p["way"] == SUBSCRIPTION else "op_summary")
        n = sum(table["kernels"] for table in tables)
        if finished.exit_status != 0 or not n:
            return Judgement(False, gettext_noop("No operator has a time; see the log."))
        longest = max(tables, key=lambda table: table["total_us"])["top"][0]
        marks = sum(table["count"] for table in _of(finished, "msprof_tx"))
        facts = {"n": n, "top": longest["type"], "share": f"{100 * longest['share']:.1f}",
                 "marks": marks}
        if p["way"] == SUBSCRIPTION:
            return Judgement(True, OPERATORS, facts, facts)
        if marks < p["loop"]:
            return Judgement(False, gettext_noop(
                "%(marks)d marks for %(loops)d loops."), {**facts, "loops": p["loop"]}, facts)
        return Judgement(True, MARKED, facts, facts)


def _of(finished: Finished, form: str) -> list[dict]:
    return [reading.values for reading in finished.in_files("profile")
            if reading.values["form"] == form]


RETRIEVED = ngettext_noop(
    "%(features)d feature added, searched by 1:N and with %(queries)d tables by N:M, modified and "
    "deleted; every result as it has to be.",
    "%(features)d features added, searched by 1:N and with %(queries)d tables by N:M, modified and "
    "deleted; every result as it has to be.", "features")


@register
class FeatureSearch(_Pyacl):
    code = "inf.feature_search"
    title = _("Retrieval of features (acl.fv)")
    description = _("Adds random features, searches them by 1:N and N:M, modifies and deletes one, "
                    "and looks at every result. Of Atlas inference products only (310P).")
    success = _("Every call succeeded, results are as many as asked and in order, a modified or "
                "deleted feature is no longer found, and N:M finds what 1:N finds.")
    stages = (Stage.INFER_MIGRATE,)
    collect = judged_files = ("feature_search.report.json",)
    parameters: ClassVar = (
        Parameter("features", _("Features"), "integer", default=1000, minimum=10,
                  maximum=1_000_000),
        Parameter("results", _("Results of a search"), "integer", default=5, minimum=3,
                  maximum=1000, help=_("Fewer than features.")),
        Parameter("queries", _("Tables of a search by N:M"), "integer", default=4, minimum=1,
                  maximum=1024),
        PYTHON,
    )
    good_run = GoodRun(cards=1, log_shows=LogShows.DEVICE_ONLY)
    practice_runs = (PracticeRun({"features": 50}, {"features": 50, "fault": ""}),)

    def argv(self, parameters):
        p = parameters
        return run_script("feature_search", *(str(p[name]) for name in (
            "features", "results", "queries")), python=p["python"])

    def conclude(self, finished: Finished) -> Judgement:
        report = finished.report("feature_search")
        if finished.exit_status != 0 or not report:
            return Judgement(False, gettext_noop("The retrieval did not end; the log shows why."))
        facts = {name: report[name] for name in ("features", "results", "queries", "fault")}
        if report["fault"]:
            return Judgement(False, gettext_noop("Results are wrong: %(fault)s."), facts, facts)
        return Judgement(True, RETRIEVED, facts, facts)
