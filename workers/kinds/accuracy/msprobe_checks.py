"""msprobe beyond the comparison: single APIs, first NaN over the ranks, graph (DOMAIN 4.3).

Options: msprobe 26.2.0, docs/zh of Ascend/msprobe (accuracy_checker, overflow_check, visualization)
and the help of `msprobe acc_check`, `overflow_check`, `graph_visualize`; before 26 they are called
run_ut, nan_analyze and graph. What the tool calls “pass” is shown, not believed.
"""

import re
from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.accuracy.msprobe import MSPROBE
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import on_device

# $1 is a dump.json or a folder; "found" says how many dumps were looked at.
ONE_DUMP = r"""
found=$(find "$1" -name dump.json 2>/dev/null | sort); [ -f "$1" ] && found=$1
n=$(printf '%s' "$found" | grep -c .); echo "desk: dumps: $n"; shift
"""
API_CHECK = MSPROBE + ONE_DUMP + r"""
[ "$n" -eq 1 ] || { echo "desk: one dump.json is expected: name one of a rank" >&2; exit 2; }
name=acc_check; is_old && name="-f pytorch run_ut"
exec "$@" msprobe $name -api_info "$found" -o check -d 0
"""
OVERFLOW = MSPROBE + "step=$1\n" + ONE_DUMP + r"""
name=overflow_check; is_old && name="-f pytorch nan_analyze"
exec msprobe $name -i "$step" -o result
"""
GRAPH = MSPROBE + r"""
name=graph_visualize; is_old || exec msprobe $name -tp "$1" ${2:+-gp "$2"} -o graph $3
python3 -c 'import json, sys
json.dump({"npu_path": sys.argv[1], **({"bench_path": sys.argv[2]} if sys.argv[2] else {}),
           "is_print_compare_log": False},
          open("graph.json", "w", encoding="utf-8"), ensure_ascii=False)' "$1" "$2" || exit $?
exec msprobe -f pytorch graph -i graph.json -o graph $3
"""
DUMPS = re.compile(r"^desk: dumps: (\d+)$", re.MULTILINE)
NOTHING = "Cannot find any anomaly node"
NO_DATA = re.compile(r"Rank (\S+) has no dump data")


class _Check(JobKind):
    stages = (Stage.TRAIN_TUNE,)
    timeout_seconds = 4 * 3600
    usual_seconds = 600


APIS_GOOD = ngettext_noop(
    "%(apis)d API checked, forward and backward: no error, no warning, every figure finite.",
    "%(apis)d APIs checked, forward and backward: no error, no warning, every figure "
    "finite.", "apis")
APIS_WITH_ERRORS = ngettext_noop(
    "%(apis)d API checked: %(errors)d with errors, %(warnings)d with warnings, %(nonfinite)d "
    "figures not finite; first: %(first)s.",
    "%(apis)d APIs checked: %(errors)d with errors, %(warnings)d with warnings, "
    "%(nonfinite)d figures not finite; first: %(first)s.", "apis")


@register
class ApiCheck(_Check):
    code = "acc.api_check"
    title = _("Accuracy of single APIs")
    description = _("msprobe acc_check: runs every API of a dump once more on the NPU and compares "
                    "it with the same API on the processor, forward and backward.")
    success = _("Both tables were written and hold at least one API; errors and NaN are the "
                "result, the tool's “pass” is not believed.")
    cards = 1
    claims_device = True
    collect = judged_files = ("check/accuracy_checking_*.csv",)
    parameters: ClassVar = (
        Parameter("dump", _("Dump of one rank"), "path", takes=("acc.dump",), help=_(
            "Its dump.json, or a folder that holds one only. Without real tensors in it the tool "
            "makes inputs of its own from the statistics.")),
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )
    good_run = GoodRun(cards=1, log_shows=LogShows.DEVICE_ONLY)
    practice_runs = (PracticeRun({"dump": "~/data/dump_npu/step0/rank0/dump.json"}, {"apis": 6}),)

    def argv(self, parameters):
        return on_device(["sh", "-c", API_CHECK, "acc_check", parameters["dump"]],
                         parameters["python"])

    def conclude(self, finished: Finished) -> Judgement:
        tables = {reading.values["form"]: reading.values
                  for reading in finished.in_files("api_accuracy")}
        result, details = tables.get("acc_check_result"), tables.get("acc_check_details")
        if not result or not details or not result["rows"] or not details["rows"]:
            return Judgement(False, gettext_noop("msprobe wrote no table of APIs; see the log."))
        facts = {"apis": result["apis"], "errors": result["errors"],
                 "warnings": result["warnings"], "nonfinite": details["nonfinite"],
                 "first": result["first_error"] or next(iter(details["nonfinite_names"]), None)
                 or "–"}
        if not any(facts[name] for name in ("errors", "warnings", "nonfinite")):
            return Judgement(True, APIS_GOOD, facts, facts)
        return Judgement(True, APIS_WITH_ERRORS, facts, facts)


FIRST_NOT_FINITE = ngettext_noop(
    "Not finite first: %(op)s (%(rank)s); %(n)d call named, %(dumps)d dumps looked at, ranks "
    "without data: %(without)s.",
    "Not finite first: %(op)s (%(rank)s); %(n)d calls named, %(dumps)d dumps looked "
    "at, ranks without data: %(without)s.", "n")
ALL_FINITE = ngettext_noop(
    "No call made a value NaN or infinite in the %(dumps)d dump looked at; ranks without "
    "data: %(without)s.",
    "No call made a value NaN or infinite in the %(dumps)d dumps looked at; ranks "
    "without data: %(without)s.", "dumps")


@register
class OverflowCheck(_Check):
    code = "acc.overflow_check"
    title = _("First NaN or infinity over all ranks")
    description = _("msprobe overflow_check: finds in the dumps of one step the call in which a "
                    "value became NaN or infinite first, also across communication.")
    success = _("The tool named a call, or said that it found none in dumps that were there.")
    usual_seconds = 120
    collect = judged_files = ("result/anomaly_analyze_*.json",)
    parameters: ClassVar = (
        Parameter("dump", _("Folder of one step"), "path", takes=("acc.dump",),
                  help=_("Such as dump/step0, with one folder per rank.")),
    )
    practice_runs = (PracticeRun({"dump": "~/data/dump_npu/step0"}, {"dumps": 1, "n": 0}),)

    def argv(self, parameters):
        return ["sh", "-c", OVERFLOW, "overflow_check", parameters["dump"]]

    def conclude(self, finished: Finished) -> Judgement:
        found = [reading.values for reading in finished.in_files("overflow")
                 if reading.values.get("form") == "anomaly_analyze"]
        dumps = DUMPS.search(finished.log)
        facts = {"dumps": int(dumps[1]) if dumps else 0,
                 "without": ", ".join(NO_DATA.findall(finished.log)) or "–"}
        if not facts["dumps"]:
            return Judgement(False, gettext_noop("No dump.json lies there: nothing was looked at."))
        if found:
            facts |= {"n": found[0]["op_count"], "op": found[0]["first_op"],
                      "rank": found[0]["first_rank"]}
            return Judgement(True, FIRST_NOT_FINITE, facts, facts)
        if NOTHING not in finished.log:
            return Judgement(False, gettext_noop(
                "The tool named no call and does not say that there is none; see the log."), facts)
        return Judgement(True, ALL_FINITE, facts, {**facts, "n": 0})


OVERFLOWS_OF_GRAPH = ngettext_noop(
    "A graph of %(nodes)d node; %(overflows)d are marked with an overflow.",
    "A graph of %(nodes)d nodes; %(overflows)d are marked with an overflow.", "nodes")
GRAPH_COMPARED = ngettext_noop(
    "%(nodes)d node of the NPU run beside the reference; least precise: %(worst)s; "
    "%(overflows)d are marked with an overflow.",
    "%(nodes)d nodes of the NPU run beside the reference; least precise: %(worst)s; "
    "%(overflows)d are marked with an overflow.", "nodes")


@register
class Graph(_Check):
    code = "acc.graph"
    title = _("Graph of one run or of two")
    description = _("msprobe graph_visualize: the modules and APIs of a run as a graph, beside "
                    "those of the reference where one is given. The file is opened by "
                    "TensorBoard with the plug-in tb_graph_ascend.")
    success = _("The graph was written and holds nodes of the NPU run.")
    collect = judged_files = ("graph/*.vis.db",)
    parameters: ClassVar = (
        Parameter("target", _("Dump of the NPU run"), "path", takes=("acc.dump",), help=_(
            "A rank's or a step's folder, dumped at the level L0 or mix: the graph needs "
            "construct.json.")),
        Parameter("golden", _("Dump of the GPU run"), "path", is_required=False,
                  takes=("acc.dump",), help=_("Empty: the graph of one run is made.")),
        Parameter("mark_overflow", _("Mark overflows"), "flag", default=False),
        Parameter("fuzzy", _("Match APIs of other names"), "flag", default=False),
    )
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"target": "~/data/dump_npu/step0",
                                  "golden": "~/data/dump_gpu/step0"}, {"nodes": 6}),)

    def argv(self, parameters):
        p = parameters
        options = [word for word, is_on in (("-oc", p["mark_overflow"]), ("-fm", p["fuzzy"]))
                   if is_on]
        return ["sh", "-c", GRAPH, "graph", p["target"], p["golden"] or "", " ".join(options)]

    def conclude(self, finished: Finished) -> Judgement:
        graphs = [reading.values for reading in finished.in_files("accuracy_graph")]
        nodes = sum(values["npu_nodes"] or (values["nodes"] if values["graph_type"] == "build"
                                            else 0) for values in graphs)
        if not nodes:
            return Judgement(False, gettext_noop("The tool wrote no graph; see the log."))
        worst = [row for values in graphs for row in values["least_precise"]
                 if (row["precision_index"] or 0) > 0]
        facts = {"nodes": nodes, "n": len(graphs), "worst": worst[0]["name"] if worst else "–",
                 "overflows": sum(len(values["overflow_nodes"]) for values in graphs)}
        if not finished.parameters["golden"]:
            return Judgement(True, OVERFLOWS_OF_GRAPH, facts, facts)
        return Judgement(True, GRAPH_COMPARED, facts, facts)
