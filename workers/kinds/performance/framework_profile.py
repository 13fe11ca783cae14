"""Profiles of a training by its framework's own profiler, with typed settings (seed S1, 3.2).

Names and what they exclude: Ascend/pytorch, torch_npu/profiler/experimental_config.py @ 0396f002
and _dynamic_profiler_config_context.py @ 0a6f87fc; MindSpore, MS_PROFILER_OPTIONS, which takes no
schedule: the whole run is profiled.
"""

import json
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, Judgement, Parameter, register
from workers.kinds.example_runs import PROJECT_SCRIPT, GoodRun, LogShows, PracticeRun
from workers.kinds.performance.profiling import METRICS
from workers.kinds.training.project_script import COMMON, ProjectRun

SCRIPT, ENVIRONMENT, MINDSPORE = "script", "environment", "mindspore"
WAYS = {SCRIPT: _("The script's own profiler"),
        ENVIRONMENT: _("torch_npu, script unchanged (PROF_CONFIG_PATH)"),
        MINDSPORE: _("MindSpore, script unchanged (MS_PROFILER_OPTIONS)")}
LEVELS = {"Level_none": _("nothing below the framework"), "Level0": _("operators, communication"),
          "Level1": _("and AscendCL, metrics of the AI cores"),
          "Level2": _("and the runtime, cache, AI CPU")}
EXPORTS = {"text": _("tables"), "text,db": _("tables and a database")}
FLAGS = ("record_shapes", "profile_memory", "with_stack", "with_flops")
PROFILER: tuple[Parameter, ...] = (
    Parameter("way", _("How it is profiled"), "choice", default=SCRIPT, choices=tuple(WAYS),
              names=WAYS,
              help=_("The script's own profiler may read these settings from the file that "
                     "NPU_PROFILER_CONFIG names. PROF_CONFIG_PATH needs PyTorch's own optimizers; "
                     "it never profiles the first step.")),
    Parameter("profiler_level", _("Level"), "choice", default="Level1", choices=tuple(LEVELS),
              names=LEVELS),
    Parameter("aicore_metrics", _("Metrics of the AI cores"), "choice", is_required=False,
              choices=(*METRICS, "AiCoreNone"),
              names={**METRICS, "AiCoreNone": _("none")},
              help=_("Empty: PipeUtilization from Level1 on.")),
    Parameter("wait", _("Steps before"), "integer", default=1, minimum=0, maximum=1_000_000),
    Parameter("warmup", _("Steps of warm-up"), "integer", default=1, minimum=0, maximum=1000),
    Parameter("active", _("Steps profiled"), "integer", default=2, minimum=1, maximum=1000),
    Parameter("repeat", _("Repetitions"), "integer", default=1, minimum=1, maximum=100),
    Parameter("steps", _("Steps of the run"), "integer", minimum=1, maximum=10_000_000,
              is_required=False, help=_("To check that it is long enough.")),
    Parameter("l2_cache", _("L2 cache"), "flag", default=False),
    Parameter("op_attr", _("Attributes of operators"), "flag", default=False),
    Parameter("msprof_tx", _("Marks of the script (msproftx)"), "flag", default=False),
    Parameter("record_shapes", _("Shapes of the inputs"), "flag", default=True),
    Parameter("profile_memory", _("Memory"), "flag", default=False),
    Parameter("with_stack", _("Call stacks"), "flag", default=False),
    Parameter("with_flops", _("Floating-point operations"), "flag", default=False),
    Parameter("export", _("Written as"), "choice", default="text", choices=tuple(EXPORTS),
              names=EXPORTS),
    Parameter("save_graphs", _("Graphs (MindSpore, save_graphs)"), "flag", default=False,
              help=_("MS_DEV_SAVE_GRAPHS: what the compiled graph's tensors take is read.")),
)
GRAPHS = ("graph_build_*.ir", "*_execute_*.ir")  # after all optimisation; up to 2.2, from 2.3 on
LAID = r"""
printf '%s\n' "$1" | sed "s|@WORK@|$PWD|" > profiler_wanted.json || exit $?; shift
NPU_PROFILER_CONFIG=$PWD/profiler_wanted.json; export NPU_PROFILER_CONFIG
"""
# torch_npu writes a template into the folder and profiles once the file has changed: it looks
# every two seconds.
UNCHANGED = LAID + r"""
mkdir -p profiler; PROF_CONFIG_PATH=$PWD/profiler; export PROF_CONFIG_PATH
"$@" & run=$!; trap 'kill $run' TERM INT
until [ -s profiler/profiler_config.json ] || ! kill -0 $run 2>/dev/null; do sleep 1; done
sleep 3; cp profiler_wanted.json profiler/profiler_config.json; wait $run
"""


def settings(p: dict) -> dict:
    """The settings as torch_npu's profiler_config.json names them, with the whole schedule."""
    experimental = {"profiler_level": p["profiler_level"], "l2_cache": p["l2_cache"],
                    "op_attr": p["op_attr"], "msprof_tx": p["msprof_tx"],
                    "export_type": p["export"].split(",") if "," in p["export"] else p["export"]}
    if p["aicore_metrics"]:
        experimental["aic_metrics"] = p["aicore_metrics"]
    return {"activities": ["CPU", "NPU"], "prof_dir": "@WORK@/profile", "analyse": True,
            **{name: p[name] for name in FLAGS}, **schedule(p), "is_valid": True,
            "start_step": p["wait"] + p["warmup"], "experimental_config": experimental}


def schedule(p: dict) -> dict:
    return {name: p[name] for name in ("wait", "warmup", "active", "repeat")}


STEP_TIMES = ngettext_noop(
    "Step times of %(n)d rank with %(rows)d rows.",
    "Step times of %(n)d ranks with %(rows)d rows.", "n")


@register
class Profile(ProjectRun):
    code = "perf.profile"
    spans_nodes = True
    title = _("Performance profile")
    description = _("Runs the script with the profiler of torch_npu or MindSpore and collects its "
                    "tables.")
    success = _("A profile folder with step times was written.")
    stages = (Stage.TRAIN_TUNE,)
    collect = ("profiler_wanted.json", *(
        f"{below}*_ascend_{by}/{files}" for by in ("pt", "ms") for below in ("", "*/")
        for files in ("*.json", "ASCEND_PROFILER_OUTPUT/*.csv",
                      "ASCEND_PROFILER_OUTPUT/*.json")),
               *(f"graphs/{below}{name}" for below in ("", "rank_*/") for name in GRAPHS))
    judged_files = ("*_ascend_*/ASCEND_PROFILER_OUTPUT/step_trace_time.csv",)
    claims_device = True
    parameters: ClassVar = (*COMMON, *PROFILER)
    none_found = gettext_noop("No profile with step times was written (status %(status)s).")
    good_run = GoodRun(cards=1, log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "profile"},
                                 {"n": 1, "rows": 3}),
                     PracticeRun({"script": PROJECT_SCRIPT, "arguments": "profile",
                                  "way": ENVIRONMENT, "active": 2}, {"n": 1, "rows": 2}))

    def clean(self, values):
        p = super().clean(values)
        if p["repeat"] > 1 and p["way"] != SCRIPT:
            raise InvalidInput(gettext("Only a script's own profiler repeats its schedule."))
        if p["cards"] > 1 and p["way"] == MINDSPORE:
            raise InvalidInput(gettext("MS_PROFILER_OPTIONS profiles a run on one card."))
        return p

    def argv(self, parameters, meeting=None):
        return ["sh", "-c", UNCHANGED if parameters["way"] == ENVIRONMENT else LAID + 'exec "$@"',
                "profile", json.dumps(settings(parameters)), *super().argv(parameters, meeting)]

    def environment(self, parameters):
        p = parameters
        graphs = {"MS_DEV_SAVE_GRAPHS": "2", "MS_DEV_SAVE_GRAPHS_PATH": "graphs"} if (
            p.get("save_graphs")) else {}
        if p["way"] != MINDSPORE:
            return {**super().environment(p), **graphs}
        options = {"start": True, "output_path": "./profile", "activities": ["CPU", "NPU"],
                   "profiler_level": p["profiler_level"], "with_stack": p["with_stack"],
                   "profile_memory": p["profile_memory"], "l2_cache": p["l2_cache"]}
        if p["aicore_metrics"]:
            options["aicore_metrics"] = p["aicore_metrics"].replace("AiCoreNone", "AicoreNone")
        return {**super().environment(p), **graphs, "MS_PROFILER_OPTIONS": json.dumps(options)}

    def facts(self, parameters):
        p = parameters
        steps = {"steps": p["steps"]} if p["steps"] else {}
        return {**super().facts(p), "profiler": {**schedule(p), **steps}, "profiler_settings": {
            name: p[name] for name in ("profiler_level", "aicore_metrics", "op_attr", "export",
                                       "with_flops")}}

    def conclude(self, finished: Finished) -> Judgement:
        steps = self.files(finished, "profile", "step_trace_time")
        if not any(values["rows"] for values in steps):
            return self.missing(finished)
        facts = {"n": len(steps), "rows": sum(values["rows"] for values in steps)}
        return Judgement(True, STEP_TIMES, facts, facts)

    def device_in(self, finished):
        """The profiler writes step times of what ran on the device only."""
        steps = self.files(finished, "profile", "step_trace_time")
        return super().device_in(finished) or ("step_trace_time" if steps else "")
