"""The cards' network: state of their ports, and HCCL's own test (DOMAIN 4.7; seed 002)."""

from typing import Any, ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, PracticeRun
from workers.kinds.node_scripts import FIND_TOOL
from workers.kinds.parameters import CARDS_OF_A_NODE

# Options of hccn_tool that answer with a state, and what every port has to answer.
CHECKS = ("link", "net_health", "link_stat", "stat", "optical")
NEEDED = ("link", "net_health")
PING = "ping"
# $1 an address to ping or nothing, then the devices. What a card cannot answer (an electrical
# link has no optical module) says so itself and ends with a status of its own.
PORTS = r"""
peer=$1; shift
tool=$(command -v hccn_tool || echo /usr/local/Ascend/driver/tools/hccn_tool)
[ -x "$tool" ] || {
  echo "desk: hccn_tool is neither on the path nor with the driver" >&2; exit 127; }
for device; do
  for check in link net_health link_stat stat optical; do
    echo "hccn_tool -i $device -$check -g"; "$tool" -i "$device" "-$check" -g
  done
  [ -z "$peer" ] || { echo "hccn_tool -i $device -ping -g address $peer"
    "$tool" -i "$device" -ping -g address "$peer"; }
done
echo "desk: asked $# devices"
"""


SOME_UNANSWERED = ngettext_noop(
    "%(n)d card answers well to %(checks)s; without a healthy answer, and so not known: "
    "%(unanswered)s.",
    "%(n)d cards answer well to %(checks)s; without a healthy answer, and so not "
    "known: %(unanswered)s.", "n")
ALL_ANSWER_WELL = ngettext_noop(
    "%(n)d card answers well to every check of hccn_tool.",
    "%(n)d cards answer well to every check of hccn_tool.", "n")


@register
class NetworkCheck(JobKind):
    code = "env.network_check"
    title = _("Network ports of the cards")
    description = _("Asks hccn_tool for link, network health, link changes, error counts and "
                    "optical module of every card, and pings another card where asked to.")
    success = _("Every card's link is up, its network healthy, and no answer names a problem.")
    stages = (Stage.ENV,)
    needs_model = False
    timeout_seconds = 600
    usual_seconds = 30
    parameters: ClassVar = (
        Parameter("devices", _("Cards"), "integer", default=CARDS_OF_A_NODE, minimum=1, maximum=64,
                  help=_("Devices 0 to n−1 are asked.")),
        Parameter("peer", _("Address to ping"), "name", is_required=False,
                  help=_("Network address of a card on another node.")),
    )
    good_run = GoodRun(parameters={"peer": "192.168.1.2"})
    practice_runs = (PracticeRun({"peer": "192.168.1.2"}, {"n": 8, "unanswered": ""}),)

    def argv(self, parameters):
        return ["sh", "-c", PORTS, "ports", parameters["peer"] or "",
                *map(str, range(parameters["devices"]))]

    def conclude(self, finished: Finished) -> Judgement:
        checks = [check for reading in finished.of_kind("hccn_tool")
                  for check in reading.values["checks"]]
        devices = range(finished.parameters["devices"])
        needed = [*NEEDED, *([PING] if finished.parameters["peer"] else [])]
        healthy = {(check["device"], check["check"]) for check in checks if check["healthy"]}
        values: dict[str, Any] = {
            "n": len(devices), "checks": ", ".join(needed),
            "problems": _listed(checks, "problems"),
            "open": ", ".join(f"{device} {check}" for device in devices for check in needed
                              if (device, check) not in healthy),
            "unanswered": ", ".join(f"{device} {check}" for device in devices for check in CHECKS
                                    if check not in NEEDED and (device, check) not in healthy)}
        if values["problems"]:
            return Judgement(False, gettext_noop("Problems of the ports: %(problems)s."),
                             values, values)
        if values["open"] or f"desk: asked {len(devices)} devices" not in finished.log:
            return Judgement(False, gettext_noop(
                "Not every card said that its port is healthy; without a good answer: %(open)s."),
                {**values, "open": values["open"] or "–"}, values)
        if values["unanswered"]:
            return Judgement(True, SOME_UNANSWERED, values, values)
        return Judgement(True, ALL_ANSWER_WELL, values, values)


def _listed(checks: list[dict], key: str) -> str:
    return ", ".join(f"{'?' if check['device'] is None else check['device']}: {problem}"
                     for check in checks for problem in check[key])


OPERATIONS = {"all_reduce": "all_reduce_test", "all_gather": "all_gather_test",
              "reduce_scatter": "reduce_scatter_test", "broadcast": "broadcast_test",
              "alltoall": "alltoall_test"}
REDUCING = ("all_reduce", "reduce_scatter")
SIZE = 1024  # of K; the tester takes K, M and G
UNITS = {"K": SIZE, "M": SIZE**2, "G": SIZE**3}
# $1 program, $2 ranks, then its options. MPICH and Open MPI both know -n.
COLLECTIVE = FIND_TOOL + r"""
program=$(find_tool "$1" tools/hccl_test/bin) || exit 127
command -v mpirun >/dev/null || { echo "mpirun: not found" >&2; exit 127; }
ranks=$2; shift 2
exec mpirun -n "$ranks" "$program" -p "$ranks" "$@"
"""


BANDWIDTH = ngettext_noop(
    "%(operation)s over %(ranks)d card: %(sizes)d sizes right, %(bandwidth)s GB/s at "
    "%(bytes)d bytes.",
    "%(operation)s over %(ranks)d cards: %(sizes)d sizes right, %(bandwidth)s GB/s at "
    "%(bytes)d bytes.", "ranks")


@register
class HcclTest(JobKind):
    code = "env.hccl_test"
    title = _("Collective communication test")
    description = _("Runs HCCL Performance Tester on the leased cards and checks the results.")
    success = _("Every size from the smallest to the largest was checked and right, and the "
                "bandwidth at the largest reaches the least that was named.")
    stages = (Stage.ENV, Stage.TRAIN_TUNE)
    needs_model = False
    timeout_seconds = 3600
    usual_seconds = 120
    claims_device = True
    parameters: ClassVar = (
        Parameter("operation", _("Operation"), "choice", default="all_reduce",
                  choices=tuple(OPERATIONS)),
        Parameter("cards", _("Cards"), "integer", default=CARDS_OF_A_NODE, minimum=2, maximum=64),
        Parameter("smallest", _("Smallest size"), "name", default="8K",
                  help=_("Bytes per card; K, M and G are understood.")),
        Parameter("largest", _("Largest size"), "name", default="64M"),
        Parameter("dtype", _("Data type"), "choice", default="fp32",
                  choices=("fp32", "fp16", "bf16", "int32", "int8")),
        Parameter("iterations", _("Iterations"), "integer", default=20, minimum=1, maximum=10_000),
        Parameter("warmup", _("Iterations to warm up"), "integer", default=5, minimum=0,
                  maximum=1000),
        Parameter("least_bandwidth", _("Least bandwidth at the largest size"), "number",
                  is_required=False, minimum=0, unit="GB/s"),
    )
    good_run = GoodRun(cards=8)
    practice_runs = (PracticeRun({"cards": 2}, {"sizes": 14, "failed": 0}),)

    def clean(self, values):
        cleaned = super().clean(values)
        if size_in_bytes(cleaned["smallest"]) > size_in_bytes(cleaned["largest"]):
            raise InvalidInput(gettext("The smallest size is above the largest."))
        return cleaned

    def argv(self, parameters):
        p = parameters
        reduction = ["-o", "sum"] if p["operation"] in REDUCING else []
        return ["sh", "-c", COLLECTIVE, "hccl_test", OPERATIONS[p["operation"]], str(p["cards"]),
                "-b", p["smallest"], "-e", p["largest"], "-f", "2", "-d", p["dtype"], *reduction,
                "-n", str(p["iterations"]), "-w", str(p["warmup"]), "-c", "1"]

    def device_in(self, finished):
        """HCCL runs on NPUs only: times of its operations prove them."""
        return super().device_in(finished) or ("HCCL" if finished.of_kind("hccl_test") else "")

    def conclude(self, finished: Finished) -> Judgement:
        readings, p = finished.of_kind("hccl_test"), finished.parameters
        if finished.exit_status != 0 or not readings:
            return Judgement(False, gettext_noop(
                "The test of the communication left no table; the log shows why."))
        found = readings[0].values
        least = p["least_bandwidth"]
        values = {"operation": p["operation"], "ranks": p["cards"], "sizes": len(found["rows"]),
                  "bandwidth": found["bandwidth_gb_s"], "bytes": found["largest_bytes"],
                  "failed": found["failed"], "unchecked": found["unchecked"], "least": least}
        if found["failed"]:
            return Judgement(False, gettext_noop(
                "%(failed)d of %(sizes)d sizes gave a wrong result."), values, values)
        if not _is_whole(found["rows"], p):
            return Judgement(False, gettext_noop(
                "The table ends before the largest size: %(sizes)d sizes were measured."),
                values, values)
        if found["unchecked"]:
            return Judgement(False, gettext_noop(
                "%(unchecked)d of %(sizes)d sizes were not checked by the tool (NULL)."),
                values, values)
        if least is not None and found["bandwidth_gb_s"] < least:
            return Judgement(False, gettext_noop(
                "%(bandwidth)s GB/s at %(bytes)d bytes is below the least of %(least)s GB/s."),
                values, values)
        return Judgement(True, BANDWIDTH, values, values)


def size_in_bytes(text: str) -> int:
    """8K → 8192, as the tester counts. Raises InvalidInput."""
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in UNITS else (text, "")
    if not number.isascii() or not number.isdigit():
        raise InvalidInput(gettext("“%(size)s” is no size such as 8K or 64M.") % {"size": text})
    return int(number) * UNITS.get(unit, 1)


def _is_whole(rows: list[dict], parameters: dict) -> bool:
    """The sizes double from the smallest (-f 2) up to the largest."""
    sizes = {row["bytes"] for row in rows}
    size, last = size_in_bytes(parameters["smallest"]), size_in_bytes(parameters["largest"])
    while 0 < size <= last:
        if size not in sizes:
            return False
        size *= 2
    return bool(sizes)
