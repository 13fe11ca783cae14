"""Dumps of a training with msprobe (DOMAIN 4.3): what is recorded, and what came of it."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from workers.kinds.accuracy import dump_config
from workers.kinds.base import Finished, Judgement, Parameter, register
from workers.kinds.example_runs import PROJECT_SCRIPT, GoodRun, LogShows, PracticeRun
from workers.kinds.training.project_script import COMMON, ProjectRun

# A copy beside the dumps: what was asked for belongs to what came of it.
SCRIPT = """
if [ -n "$1" ]; then cp "$1" dump_config.json; else printf "%s\\n" "$2" > dump_config.json; fi \\
    || exit $?
MSPROBE_CONFIG=${1:-$PWD/dump_config.json}; export MSPROBE_CONFIG; shift 2; exec "$@"
"""


@register
class Dump(ProjectRun):
    code = "acc.dump"
    spans_nodes = True
    title = _("Accuracy dump")
    description = _("Runs the script, which is to create "
                    "PrecisionDebugger(config_path=os.environ[\"MSPROBE_CONFIG\"]).")
    success = _("Every rank wrote a dump.json that holds at least one operator.")
    stages = (Stage.TRAIN_TUNE,)
    collect = ("dump_config.json", "*/step*/*/*.json", "step*/*/*.json")
    judged_files = ("*/dump.json",)
    parameters: ClassVar = (
        *COMMON, *dump_config.TYPED,
        Parameter("config", _("config.json of PrecisionDebugger"), "path", is_required=False,
                  help=_("One on the node in place of the fields above; its dump_path is to be a "
                         "name without “/”: a folder of the job's.")),
        Parameter("ranks", _("Ranks"), "integer", default=1, minimum=1, maximum=4096,
                  help=_("From so many of them a dump is expected.")))
    none_found = gettext_noop("No dump was written (status %(status)s).")
    good_run = GoodRun(parameters={"ranks": 2}, log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "dump",
                                  "config": "~/data/msprobe.json", "ranks": 2}, {"dumps": 2}),
                     PracticeRun({"script": PROJECT_SCRIPT, "arguments": "dump", "level": "mix",
                                  "steps": "0, 2-3"}, {"dumps": 3}))

    def clean(self, values):
        cleaned = super().clean(values)
        dump_config.require_consistent(cleaned)
        return cleaned

    def argv(self, parameters, meeting=None):
        command = super().argv(parameters, meeting)
        typed = "" if parameters["config"] else dump_config.config_json(parameters)
        return ["sh", "-c", SCRIPT, "dump", parameters["config"] or "", typed, *command]

    def facts(self, parameters):
        if parameters["config"]:
            return {"is_dump": True}
        ranks = dump_config.entries(parameters["dump_ranks"])
        return {"is_dump": True, "dump_steps": dump_config.entries(parameters["steps"]),
                "dump_ranks": ranks, "config_ranks": ranks}

    def handed_over(self, names):
        """The first step's folder, which holds one folder per rank."""
        dumps = sorted(name for name in names if name.endswith("/dump.json"))
        return dumps[0].rsplit("/", 2)[0] if dumps and dumps[0].count("/") > 1 else ""

    def conclude(self, finished: Finished) -> Judgement:
        dumps = [name for name in finished.files if name.endswith("/dump.json")]
        if not dumps or finished.exit_status != 0:
            return self.missing(finished)
        read = self.files(finished, "accuracy_dump", "dump")
        facts = {"dumps": len(dumps), "ranks": finished.parameters["ranks"],
                 "calls": sum(values["entries"] for values in read),
                 "nonfinite": sum(values["nonfinite"] for values in read),
                 "first": next((values["first_nonfinite"] for values in read
                                if values["nonfinite"]), None)}
        if len({name.rsplit("/", 2)[-2] for name in dumps}) < facts["ranks"]:
            return Judgement(False, gettext_noop(
                "Dumps: %(dumps)d, but not for all %(ranks)d ranks."), facts, facts)
        if not all(values["entries"] for values in read):
            return Judgement(False, gettext_noop(
                "A dump holds no call: of its rank nothing was recorded."), facts, facts)
        return Judgement(True, _DUMPED[facts["dumps"] == 1, bool(facts["nonfinite"])],
                         facts, facts)


_DUMPED = {  # (is one dump, has values that are not finite)
    (True, False): gettext_noop("1 dump with %(calls)d calls was written; every value is finite."),
    (False, False): gettext_noop(
        "%(dumps)d dumps with %(calls)d calls were written; every value is finite."),
    (True, True): gettext_noop(
        "1 dump was written; NaN or Inf in %(nonfinite)d of its %(calls)d calls, first %(first)s."),
    (False, True): gettext_noop(
        "%(dumps)d dumps were written; NaN or Inf in %(nonfinite)d of their %(calls)d calls, first "
        "%(first)s."),
}
