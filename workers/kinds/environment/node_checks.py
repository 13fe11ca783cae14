"""Kinds that look at a node (DOMAIN 4.1)."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, PracticeRun
from workers.nodes.cards.readings import keep_cards
from workers.runtimes import software

HEALTHY = "OK"  # DOMAIN R-ENV-01; "Normal" occurs in text reports only


NOT_HEALTHY = ngettext_noop(
    "%(bad)d of %(n)d chips is not healthy (%(which)s).",
    "%(bad)d of %(n)d chips are not healthy (%(which)s).", "bad")
TOO_FEW_LISTED = ngettext_noop(
    "Only %(n)d chip is listed, %(expected)d are expected.",
    "Only %(n)d chips are listed, %(expected)d are expected.", "n")
ALL_HEALTHY = ngettext_noop(
    "The only chip is healthy.",
    "All %(n)d chips are healthy.", "n")


@register
class NpuInfo(JobKind):
    code = "env.npu_info"
    title = _("Chip status")
    description = _("Reads all cards of the node with npu-smi and keeps their state.")
    success = _("Every expected chip is listed and healthy.")
    usual_seconds = 5
    stages = (Stage.ENV,)
    needs_model = False
    timeout_seconds = 120
    parameters: ClassVar = (
        Parameter("chips_expected", _("Chips expected"), "integer", default=8, minimum=1,
                  maximum=64, help=_("Fewer chips than this is a failure.")),
    )
    good_run = GoodRun(also_of=("env.hdk_install",))
    practice_runs = (PracticeRun(),)

    def argv(self, parameters):
        return ["npu-smi", "info"]

    def conclude(self, finished: Finished) -> Judgement:
        readings = finished.of_kind("npu_smi")
        if not readings or not readings[0].values.get("chips"):
            return Judgement(False, gettext_noop(
                "npu-smi listed no chips: check the driver and the login's permissions."))
        chips = readings[0].values["chips"]
        expected = finished.parameters["chips_expected"]
        unhealthy = [c for c in chips if c.get("health") not in (HEALTHY, "Normal")]
        values = {"n": len(chips), "expected": expected, "bad": len(unhealthy)}
        if unhealthy:
            values["which"] = ", ".join(f"{c.get('npu')}: {c.get('health')}" for c in unhealthy)
            return Judgement(False, NOT_HEALTHY, values)
        if len(chips) < expected:
            return Judgement(False, TOO_FEW_LISTED, values)
        return Judgement(True, ALL_HEALTHY, values)

    def after(self, job, finished):
        """Keep the cards as last read, and the driver's version."""
        for reading in finished.of_kind("npu_smi"):
            keep_cards(job.node, reading.values.get("chips") or [])
            driver = reading.values.get("driver_version") or reading.tool_version
            if driver:
                software.keep(job, driver=driver)


PROBE_COMMANDS = ("uname -m", "cat /etc/os-release", "lscpu", "free -m", "df -Pk",
                  "python3 --version", "gcc --version", "cat /sys/class/dmi/id/product_name",
                  "date +%s")
LAST_PROBE = f"== {PROBE_COMMANDS[-1]} =="
PROBE_SCRIPT = "; ".join(
    f"echo '== {c.removeprefix('cat ')} =='; {c} 2>&1" for c in PROBE_COMMANDS) + "; exit 0"


@register
class HostProbe(JobKind):
    code = "env.host_probe"
    title = _("Host probe")
    description = _("Architecture, operating system, processors, memory, disks, Python and GCC.")
    success = _("The node's answer can be read.")
    usual_seconds = 5
    stages = (Stage.ENV, Stage.SURVEY)
    needs_model = False
    timeout_seconds = 120
    practice_runs = (PracticeRun(),)

    def argv(self, parameters):
        return ["sh", "-c", PROBE_SCRIPT]

    def conclude(self, finished: Finished) -> Judgement:
        readings = finished.of_kind("host_probe")
        if not readings:
            return Judgement(False, gettext_noop("The answer of the node could not be read."))
        values = readings[0].values
        facts = {"arch": values.get("arch") or "?", "os": values.get("os") or "?",
                 "python": values.get("python") or "–"}
        if "?" in (facts["arch"], facts["os"]) or LAST_PROBE not in finished.log:
            return Judgement(False, gettext_noop(
                "The answer of the node is not complete (architecture %(arch)s, operating system "
                "%(os)s): what is missing was not looked at."), facts)
        return Judgement(True, gettext_noop(
            "%(os)s on %(arch)s, Python %(python)s."), facts)

    def after(self, job, finished):
        for reading in finished.of_kind("host_probe"):
            found = reading.values
            software.keep(job, os=found.get("os"), arch=found.get("arch"),
                          python=found.get("python"), gcc=found.get("gcc"))


TORCH_SCRIPT = (
    "import torch, torch_npu; print('== torch_check =='); "
    "print('torch', torch.__version__, 'torch_npu', torch_npu.__version__, "
    "'available', torch.npu.is_available())"
)


@register
class TorchCheck(JobKind):
    code = "env.torch_check"
    title = _("torch_npu check")
    description = _("Imports torch and torch_npu and asks whether an NPU is available.")
    success = _("torch and torch_npu are imported and see an NPU.")
    usual_seconds = 30
    stages = (Stage.ENV,)
    needs_model = False
    timeout_seconds = 300
    parameters: ClassVar = (
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )
    practice_runs = (PracticeRun(),)

    def argv(self, parameters):
        return [parameters["python"], "-c", TORCH_SCRIPT]

    def conclude(self, finished: Finished) -> Judgement:
        readings = finished.of_kind("torch_check")
        if finished.exit_status != 0 or not readings:
            return Judgement(False, gettext_noop(
                "torch or torch_npu cannot be imported; the log shows why."))
        values = readings[0].values
        facts = {"torch": values.get("torch"), "torch_npu": values.get("torch_npu")}
        if values.get("available") is not True:
            return Judgement(False, gettext_noop(
                "torch %(torch)s is installed, but no NPU is available to it."), facts)
        return Judgement(True, gettext_noop(
            "torch %(torch)s with torch_npu %(torch_npu)s sees the NPU."), facts)

    def after(self, job, finished):
        for reading in finished.of_kind("torch_check"):
            software.keep(job, torch=reading.values.get("torch"),
                          torch_npu=reading.values.get("torch_npu"))
