"""Profiles of applications with msprof and pyACL, memory by polling (DOMAIN 4.4, 4.5)."""

import re
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.gangs import launchers
from workers.kinds.base import Finished, Judgement, Parameter, register
from workers.kinds.example_runs import PROJECT_SCRIPT, GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import run_script
from workers.kinds.parameters import as_words
from workers.kinds.training.project_script import COMMON, ProjectRun

PLAIN = re.compile(r"[^\s'\"\\$`|&;<>()*?]+\Z")  # a word that no shell and no tool splits
EXPORTED = ("PROF_*/mindstudio_profiler_output/*.csv", "*/PROF_*/mindstudio_profiler_output/*.csv")


KERNELS = ngettext_noop(
    "%(kernels)d kernel; %(top)s takes %(share)s %% of their time.",
    "%(kernels)d kernels; %(top)s takes %(share)s %% of their time.", "kernels")


class _AclProfile(ProjectRun):
    """Base: what msprof exported as op_summary counts; a folder alone proves nothing."""

    stages = (Stage.TRAIN_TUNE, Stage.INFER_TUNE)
    collect = EXPORTED
    judged_files = ("*/op_summary*.csv",)
    claims_device = True
    none_found = gettext_noop("No table of operators was exported (status %(status)s).")

    def conclude(self, finished: Finished) -> Judgement:
        tables = self.files(finished, "profile", "op_summary")
        kernels = sum(values["kernels"] for values in tables)
        if not kernels:
            return self.missing(finished)
        longest = max(tables, key=lambda values: values["total_us"])
        top = (longest["top"] or [{}])[0]
        facts = {"n": len(tables), "kernels": kernels, "top": str(top.get("type") or "–"),
                 "share": f"{100 * (top.get('share') or 0):.1f}"}
        return Judgement(True, KERNELS, facts, facts)


    def device_in(self, finished):
        """Kernels in op_summary ran on the device that msprof watched."""
        tables = self.files(finished, "profile", "op_summary")
        return super().device_in(finished) or (
            "op_summary" if any(values["kernels"] for values in tables) else "")


METRICS = {"PipeUtilization": _("time per computing unit"),
           "ArithmeticUtilization": _("share of cube and vector instructions"),
           "Memory": _("bandwidth of external memory"),
           "MemoryL0": _("bandwidth of the L0 buffers"), "MemoryUB": _("bandwidth of the UB"),
           "ResourceConflictRatio": _("waiting for resources"),
           "L2Cache": _("hits of the L2 cache")}


@register
class Msprof(_AclProfile):
    code = "perf.msprof"
    title = _("Application profile with msprof")
    description = _("Runs the script under msprof and collects its exported tables.")
    success = _("A table of operators (op_summary) with at least one kernel was exported.")
    parameters: ClassVar = (
        *COMMON,
        Parameter("metrics", _("Metrics of the AI cores"), "choice", default="PipeUtilization",
                  choices=tuple(METRICS), names=METRICS),
    )
    good_run = GoodRun(cards=1, log_shows=LogShows.NOTHING, also_of=("inf.pyacl_profile",))
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "smoke 12"},
                                 {"kernels": 12, "n": 1}),)

    def clean(self, values):
        cleaned = super().clean(values)
        odd = next((word for word in (cleaned["python"], cleaned["script"],
                                      *as_words(cleaned["arguments"])) if not PLAIN.match(word)),
                   None)
        if odd is not None:
            raise InvalidInput(gettext(
                "msprof takes the whole command as one text: “%(word)s” cannot hold blanks, quotes "
                "or other characters of a shell there.") % {"word": odd})
        return cleaned

    def argv(self, parameters):
        p = parameters
        # msprof takes the application as one word; a leading ~ of the script is expanded first.
        script = 'm=$1; shift; exec msprof --application="$*" --output=. "$m"'
        return ["sh", "-c", script, "msprof", f"--aic-metrics={p['metrics']}",
                *launchers.words(p["launcher"], p["python"], p["cards"]),
                p["script"], *as_words(p["arguments"])]


@register
class PyaclProfile(_AclProfile):
    code = "inf.pyacl_profile"
    title = _("Profile by pyACL")
    description = _("Runs a script that calls acl.prof (by file, by marks or by subscription) into "
                    "its working folder, then exports the tables with msprof.")
    success = _("A table of operators (op_summary) with at least one kernel was exported.")
    stages = (Stage.INFER_TUNE,)
    good_run = GoodRun(cards=1, log_shows=LogShows.NOTHING, also_of=("perf.msprof",))
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "pyacl"}, {"kernels": 6}),)

    def argv(self, parameters):
        script = '"$@" || exit $?; exec msprof --export=on --output=.'
        return ["sh", "-c", script, "pyacl", *super().argv(parameters)]


TOO_FEW_READINGS = ngettext_noop(
    "Only %(readings)d reading of %(cards_read)d cards was taken; run it longer or shorten "
    "the interval.",
    "Only %(readings)d readings of %(cards_read)d cards were taken; run it longer or "
    "shorten the interval.", "readings")


@register
class MemoryPeak(ProjectRun):
    code = "perf.mem_peak"
    title = _("Peak memory")
    description = _("Runs the script and reads the memory of the leased cards with npu-smi once a "
                    "second; a memory summary that the script prints is read too.")
    success = _("At least three readings of every leased card were taken while the script ran, and "
                "it is proven to have used an NPU.")
    stages = (Stage.TRAIN_TUNE, Stage.INFER_TUNE)
    collect = judged_files = ("device_memory.csv",)
    claims_device = True
    none_found = gettext_noop("The memory of the cards could not be read (status %(status)s).")
    parameters: ClassVar = (
        *COMMON, Parameter("interval", _("Interval"), "number", default=1, minimum=0.05,
                           maximum=60, unit="s"))
    good_run = GoodRun(cards=2, log_shows=LogShows.DEVICE_ONLY)
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "burn 2", "cards": 2,
                                  "interval": 0.1}, {"cards_read": 2}),)

    def argv(self, parameters):
        # The run's own Python polls; the script's arguments follow as they are.
        return run_script("mem_peak", str(parameters["interval"]), *super().argv(parameters))

    def conclude(self, finished: Finished) -> Judgement:
        polled = self.files(finished, "memory", "polled")
        if not polled or finished.exit_status != 0:
            return self.missing(finished)
        values = polled[0]
        least = min((card["readings"] for card in values["devices"]), default=0)
        facts = {"cards_read": len(values["devices"]), "readings": least,
                 "peak": round(values["peak_used_mb"] or 0),
                 "before": round(values["before_mb"] or 0)}
        if least < 3 or facts["cards_read"] < finished.cards_wanted:
            return Judgement(False, TOO_FEW_READINGS, facts, facts)
        return Judgement(True, gettext_noop(
            "Peak of %(peak)d MB on one card (%(before)d MB before the start), "
            "%(cards_read)d cards, %(readings)d readings."), facts, facts)
