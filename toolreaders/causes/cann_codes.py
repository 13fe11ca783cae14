"""The error codes of CANN: what they mean and what to do.

Six characters: E, the module, four digits, of which 9000 to 9999 are faults inside the module. Six
digits are what ACL, the runtime and GE return. `cann_codes.tsv` has a row for each code that a
public table of CANN names, with its cause below, the versions and the table. Most messages name a
reason and a solution of their own: these come before what a class of codes means, and of a code of
which nothing is known no remedy is given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from toolreaders.causes.cause import CLUSTER, ENVIRONMENT, HARDWARE, SCRIPT, Cause
from toolreaders.sentences import gettext_noop

TROUBLESHOOTING = "https://www.hiascend.com/document/detail/en/canncommercial/850/maintenref/"
SCHEME = TROUBLESHOOTING + "troubleshooting/troubleshooting_0225.html"
HCCL = ("https://www.hiascend.com/document/detail/zh/CANNCommunityEdition/850/maintenref/"
        "troubleshooting/atlaserrorcode_15_0240.html")
RETURN_CODES = ("https://github.com/Ascend/pytorch/blob/master/torch_npu/csrc/core/npu/"
                "NPUErrorCodes.h")
CANN = "https://gitcode.com/cann/"
TABLES = {
    "runtime": CANN + "runtime/blob/master/src/dfx/error_manager/error_code.json",
    "ge": CANN + "ge/blob/master/base/common/error_registry/error_registry.cc",
    "opbase": CANN + "opbase/blob/master/src/op_common/log/log.cpp",
    "hcomm": CANN + "hcomm",
    "acl": CANN + "runtime/blob/master/include/external/acl/error_codes/rt_error_codes.h",
    "acl_base": CANN + "runtime/blob/master/include/external/acl/acl_base_rt.h",
    "ge_numbers": CANN + "ge/blob/master/inc/external/ge/ge_error_codes.h",
}
"""Public tables of CANN, by the name that `cann_codes.tsv` has for them."""

MODULES = {
    "1": "GE", "2": "FE", "3": "AI CPU", "4": "TE Fusion", "5": "TBE", "6": "TBE", "7": "Vector",
    "8": "Vector", "9": "TBE", "A": "TBE", "B": "TBE Pass", "C": "Auto Tune", "D": "RL Tune",
    "E": "Runtime", "F": "LxFusion", "G": "AOE", "H": "ACL", "I": "HCCL", "J": "HCCP",
    "K": "Profiling", "L": "Driver", "M": "Queue Schedule", "N": "DVPP", "O": "AMCT", "P": "Dump",
    "Z": "aclnn",
}

FIRST_RANK = gettext_noop(
    "Find the rank that failed first: its own error stands earlier in its log. If all ranks report "
    "it, compare their clocks and their number of samples, then the links (hccn_tool -i N -link "
    "-g, -tls -g) and the time limits: HCCL_EXEC_TIMEOUT, HCCL_CONNECT_TIMEOUT and the script's "
    "own (ddp_timeout).")
SAME_EVERYWHERE = gettext_noop(
    "Give all ranks the same script, parameters, rank table and CANN version, then try again.")
OPERATOR = gettext_noop(
    "The first error of the rank, above this line or in its plog, names the operator. Run again "
    "with ASCEND_LAUNCH_BLOCKING=1 to see the call; check its shapes, types and addresses. If "
    "another card runs it, suspect the card.")
REPORT = gettext_noop(
    "This code mostly follows from an earlier fault: read on upwards and in the plog "
    "(~/ascend/log). If nothing stands there, keep the logs and ask the manufacturer's support.")
REPORT_CARD = gettext_noop(
    "Put the node in maintenance, look at npu-smi info -t health and the event log of the card, "
    "and report the card to the manufacturer.")
CARD_NUMBERS = gettext_noop(
    "Compare the card numbers of the script with ASCEND_RT_VISIBLE_DEVICES and npu-smi info.")
FREE_MEMORY = gettext_noop(
    "Lower the batch or the sequence length, or spread the model over more cards; end what else "
    "holds memory on the card.")
PARAMETERS = gettext_noop(
    "Correct the argument that the line names with “Edit and run again”.")

CALL = gettext_noop(
    "The traceback names the call: correct its argument, its device or the order of the calls. "
    "With ASCEND_LAUNCH_BLOCKING=1 it names the call that failed.")
SUPPORTED = gettext_noop(
    "Give the operator or interface what its page in CANN's documentation names (data types, "
    "formats, shapes, this chip), or use another one.")
LINKS = gettext_noop(
    "Check the link of both cards (hccn_tool -i N -link -g, -net_health -g, -optical -g) and the "
    "switch; if the other rank had ended, its own error stands earlier.")
LOOK_AT_PATH = gettext_noop(
    "Check that the file or folder exists, is whole and may be read and written by the job's user.")
FEWER = gettext_noop(
    "End what else uses the card; use fewer streams, events, queues or models at a time.")
OWN, GENERAL, WAITS, INNER = "own", "general", "waits", "inner"


@dataclass(frozen=True)
class Meaning:
    """What a code means; `kind`: OWN says it better than the log, GENERAL says less than the log's
    own reason, WAITS is of a rank that waited for another, INNER an envelope of another fault."""

    headline: str
    remedy: str
    fault: str
    kind: str = OWN


MEANINGS = {
    "hccl_variable": Meaning(gettext_noop(
        "An environment variable of HCCL has a value that is not allowed (EI0001)."),
        PARAMETERS, ENVIRONMENT),
    "collective_timeout": Meaning(gettext_noop(
        "A collective operation timed out: a rank waited in vain for another (EI0002)."),
        FIRST_RANK, CLUSTER, WAITS),
    "collective_argument": Meaning(gettext_noop(
        "A collective operation got an argument that is not allowed (EI0003)."),
        SAME_EVERYWHERE, SCRIPT),
    "rank_table": Meaning(gettext_noop(
        "The rank table is not valid or does not fit the cluster (EI0004)."), gettext_noop(
            "Regenerate the rank table from the nodes' real device addresses (hccn_tool -i N -ip "
            "-g)."), CLUSTER),
    "collective_mismatch": Meaning(gettext_noop(
        "The ranks called a collective operation with different arguments (EI0005)."),
        SAME_EVERYWHERE, CLUSTER),
    "socket_timeout": Meaning(gettext_noop(
        "The ranks did not connect to each other in time (EI0006): one is missing, or the link is "
        "down."), FIRST_RANK, CLUSTER, WAITS),
    "hccl_resource": Meaning(gettext_noop(
        "HCCL got no memory or other resource (EI0007)."), FREE_MEMORY, ENVIRONMENT),
    "hccl_versions": Meaning(gettext_noop(
        "The ranks have different versions of CANN (EI0008)."), SAME_EVERYWHERE, ENVIRONMENT),
    "roce_cqe": Meaning(gettext_noop(
        "The network between two cards lost packets until RoCE gave up, or the other rank had "
        "ended (EI0013)."), FIRST_RANK, CLUSTER, WAITS),
    "device_number": Meaning(gettext_noop(
        "The driver knows no card of that number (EL0002)."), CARD_NUMBERS, SCRIPT),
    "runtime_argument": Meaning(gettext_noop(
        "The runtime was called with an argument that is not allowed (EE1001)."), OPERATOR, SCRIPT),
    "stream_timeout": Meaning(gettext_noop(
        "A stream did not end in time (EE1002): mostly one rank waits for another."),
        FIRST_RANK, CLUSTER, WAITS),
    "soc_unknown": Meaning(gettext_noop(
        "The runtime could not find out the chip's type (507008)."), REPORT, "", INNER),
    "scheduler_lost": Meaning(gettext_noop(
        "The card's task scheduler stopped answering (507010)."), REPORT_CARD, HARDWARE),
    "model_failed": Meaning(gettext_noop(
        "The execution of the model failed on the card (507011)."), OPERATOR, SCRIPT),
    "scheduler_silent": Meaning(gettext_noop(
        "The card's task scheduler did not report in time (507012)."), REPORT, "", INNER),
    "aicore_timeout": Meaning(gettext_noop(
        "An operator on the AI Core did not end in time (507014)."), OPERATOR, SCRIPT),
    "aicore_failed": Meaning(gettext_noop(
        "An operator on the AI Core failed (507015)."), OPERATOR, SCRIPT),
    "aicore_trap": Meaning(gettext_noop(
        "An operator on the AI Core trapped (507016)."), OPERATOR, SCRIPT),
    "aicpu_operator_timeout": Meaning(gettext_noop(
        "An operator on the AI CPU did not end in time (507017)."), OPERATOR, SCRIPT),
    "aicpu_failed": Meaning(gettext_noop(
        "An operator on the AI CPU failed (507018)."), OPERATOR, SCRIPT),
    "card_not_started": Meaning(gettext_noop(
        "The card did not start (507033)."), REPORT_CARD, HARDWARE),
    "vector_timeout": Meaning(gettext_noop(
        "An operator on the vector core did not end in time (507034)."), OPERATOR, SCRIPT),
    "vector_failed": Meaning(gettext_noop(
        "An operator on the vector core failed (507035)."), OPERATOR, SCRIPT),
    "stream_sync_timeout": Meaning(gettext_noop(
        "A stream did not end in time (507046): mostly one rank waits for another."),
        FIRST_RANK, CLUSTER, WAITS),
    "memory_fault": Meaning(gettext_noop(
        "The card's memory has an error that cannot be corrected (507053)."),
        REPORT_CARD, HARDWARE),
    "memory_bits": Meaning(gettext_noop(
        "The card's memory has an error of several bits (507054)."), REPORT_CARD, HARDWARE),
    "link_broken": Meaning(gettext_noop(
        "The link between two cards broke (507056)."), REPORT_CARD, HARDWARE),
    "driver_internal": Meaning(gettext_noop(
        "The driver reports an internal error (507899)."), REPORT, "", INNER),
    "aicpu_internal": Meaning(gettext_noop(
        "The AI CPU reports an internal error (507900)."), REPORT, "", INNER),
    "rank_table_content": Meaning(gettext_noop(
        "The rank table does not say what it must, or not what the cards say (%(ascend)s): "
        "%(text)s"),
        gettext_noop(
            "Regenerate the rank table from the nodes' real device addresses (hccn_tool -i N -ip "
            "-g)."), CLUSTER, GENERAL),
    "ranks_not_gathered": Meaning(gettext_noop(
        "Not all ranks came together when the communicator was made (%(ascend)s)."),
        FIRST_RANK, CLUSTER, WAITS),
    "link_fault": Meaning(gettext_noop(
        "The link between two cards failed, or the other rank had ended (%(ascend)s): %(text)s"),
        LINKS, CLUSTER, GENERAL),
    "card_held": Meaning(gettext_noop(
        "An earlier process still holds the card (%(ascend)s)."), gettext_noop(
            "End it (npu-smi info lists the processes), wait ten seconds, then try again."),
        ENVIRONMENT, GENERAL),
    "device_fault": Meaning(gettext_noop(
        "The card or its system software does not work (%(ascend)s): %(text)s"),
        REPORT_CARD, HARDWARE, GENERAL),
    "device_event": Meaning(gettext_noop(
        "The card reported a fault while the program ran (%(ascend)s): %(text)s"),
        REPORT_CARD, HARDWARE, GENERAL),
    "aicpu_timeout": Meaning(gettext_noop(
        "An operator on the AI CPU did not end in time (%(ascend)s): %(text)s"), gettext_noop(
            "For an operator that reads data, look at the preprocessing before it; else at the "
            "operator's input."), SCRIPT, GENERAL),
    "permission": Meaning(gettext_noop(
        "The job's user may not use the card or what it asked for (%(ascend)s)."), gettext_noop(
            "Add the user to the group HwHiAiUser; give a container its /dev/davinci*."),
        ENVIRONMENT),
    "environment_variable": Meaning(gettext_noop(
        "An environment variable has a value that is not allowed (%(ascend)s): %(text)s"),
        gettext_noop(
            "Correct the variable in the job's runtime or script."), ENVIRONMENT, GENERAL),
    "configuration": Meaning(gettext_noop(
        "A configuration is not valid (%(ascend)s): %(text)s"), gettext_noop(
            "Correct the entry that the line names."), ENVIRONMENT, GENERAL),
    "environment": Meaning(gettext_noop(
        "The environment lacks what CANN needs (%(ascend)s): %(text)s"), gettext_noop(
            "Install what the line names for the Python of the job, in a version that this CANN "
            "supports."), ENVIRONMENT, GENERAL),
    "package": Meaning(gettext_noop(
        "The packages of driver, firmware or CANN do not belong together or are damaged "
        "(%(ascend)s): %(text)s"), gettext_noop(
            "Install driver, firmware, CANN and its operator package of one release."),
        ENVIRONMENT, GENERAL),
    "file_operation": Meaning(gettext_noop(
        "CANN cannot read or write a file (%(ascend)s): %(text)s"),
        LOOK_AT_PATH, ENVIRONMENT, GENERAL),
    "socket_refused": Meaning(gettext_noop(
        "A peer of the service cannot be reached (%(ascend)s): %(text)s"), gettext_noop(
            "Check address, port and token of the peer in the configuration, and that it runs."),
        CLUSTER, GENERAL),
    "resources": Meaning(gettext_noop(
        "CANN has no more of a resource (%(ascend)s): %(text)s"), FEWER, ENVIRONMENT, GENERAL),
    "argument": Meaning(gettext_noop(
        "CANN (%(module)s) refuses what it was given, %(ascend)s: %(text)s"),
        PARAMETERS, SCRIPT, GENERAL),
    "not_supported": Meaning(gettext_noop(
        "CANN (%(module)s) does not support what it was given, %(ascend)s: %(text)s"),
        SUPPORTED, SCRIPT, GENERAL),
    "operator_unsupported": Meaning(gettext_noop(
        "CANN has no implementation of an operator (%(ascend)s): %(text)s"), gettext_noop(
            "Check that the operator package (OPP) of this CANN is installed and ASCEND_OPP_PATH "
            "names it. If it is, replace the operator or plan its development."), SCRIPT, GENERAL),
    "operator_compilation": Meaning(gettext_noop(
        "An operator could not be compiled or loaded (%(ascend)s): %(text)s"), gettext_noop(
            "The lines below name operator and reason. Try a supported type or shape, another "
            "release of CANN, or another operator; of an operator of your own, correct its code."),
        SCRIPT, GENERAL),
    "model_file": Meaning(gettext_noop(
        "The model file is not what CANN accepts (%(ascend)s): %(text)s"), gettext_noop(
            "Correct or export the model again; the line names what is wrong with it."),
        SCRIPT, GENERAL),
    "call_order": Meaning(gettext_noop(
        "CANN was called in an order that is not allowed (%(ascend)s): %(text)s"),
        CALL, SCRIPT, GENERAL),
    "execution": Meaning(gettext_noop(
        "CANN could not carry out a task (%(ascend)s): %(text)s"), OPERATOR, SCRIPT, GENERAL),
    "inner_error": Meaning(gettext_noop(
        "CANN (%(module)s) failed inside, %(ascend)s: %(text)s"), REPORT, "", INNER),
    "runtime_call": Meaning(gettext_noop(
        "A call to ACL or the NPU's runtime was refused: %(ascend)s, %(title)s."), CALL, SCRIPT),
    "runtime_resources": Meaning(gettext_noop(
        "The NPU's runtime has no more of a resource: %(ascend)s, %(title)s."), FEWER, ENVIRONMENT),
    "runtime_unsupported": Meaning(gettext_noop(
        "This chip or CANN does not support a call: %(ascend)s, %(title)s."), SUPPORTED, SCRIPT),
    "runtime_internal": Meaning(gettext_noop(
        "CANN failed inside: %(ascend)s, %(title)s."), REPORT, "", INNER),
    "graph_capture": Meaning(gettext_noop(
        "The capture of a graph (ACLGraph) was broken: %(ascend)s, %(title)s."), gettext_noop(
            "Keep calls that synchronise, and other streams and threads, out of the captured "
            "part; or run without graph capture."), SCRIPT),
    "device_aborted": Meaning(gettext_noop(
        "The card stopped its tasks: %(ascend)s, %(title)s."), FIRST_RANK, "", WAITS),
    "wait_timeout": Meaning(gettext_noop(
        "A task or event did not end in time: %(ascend)s, %(title)s."), FIRST_RANK, CLUSTER, WAITS),
    "overflow": Meaning(gettext_noop(
        "An operator overflowed: %(ascend)s, %(title)s."), gettext_noop(
            "Look at the loss scale and at what was computed in half precision; an overflow dump "
            "names the operator."), SCRIPT),
    "operator_stopped": Meaning(gettext_noop(
        "An operator was stopped on the card: %(ascend)s, %(title)s."), OPERATOR, SCRIPT),
    "hardware": Meaning(gettext_noop(
        "The card or a link of it reports a fault: %(ascend)s, %(title)s."), REPORT_CARD, HARDWARE),
}


@dataclass(frozen=True)
class CodeRow:
    """A code in `cann_codes.tsv`."""

    code: str
    cause: str
    versions: str
    table: str
    title: str

    @property
    def meaning(self) -> Meaning | None:
        """None where a line of its own shows the cause too; see `log_causes`."""
        return MEANINGS.get(self.cause)

    @property
    def is_return(self) -> bool:
        """Whether it is a number that a call returned."""
        return self.code.isdigit()

    def as_cause(self) -> Cause:
        """The cause of a code that has a meaning."""
        meaning = MEANINGS[self.cause]
        return Cause("ascend_return_code" if self.is_return else "ascend_code", None,
                     meaning.headline, meaning.remedy, TABLES[self.table], meaning.fault,
                     waits=meaning.kind == WAITS, versions=self.versions)


@cache
def _table() -> tuple[dict[str, CodeRow], dict[str, str]]:
    rows, printed = {}, {}
    for line in Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        code, cause, versions, table, title, *text = line.split("\t")
        rows[code] = CodeRow(code, cause, "" if versions == "-" else versions, table,
                             "" if title == "-" else title)
        printed |= dict.fromkeys(text, code)
    return rows, printed


def code_rows() -> dict[str, CodeRow]:
    """The rows of the table by their code."""
    return _table()[0]


def code_of_text(text: str) -> str:
    """The number whose meaning torch_npu prints with these words; empty where none has them."""
    return _table()[1].get(text.strip().rstrip(". "), "")


PRINTED = re.compile(
    r"^(?:.*[\t (]|\[[^\]\n]*\])?(?P<ascend>E[1-9A-Z]\d{4})"
    r"(?:\[PID: ?\d+\][\d\-:. ]*(?:\(E\w{5}\))?)?\)?: *"
    r"(?:Inner Error!?\s+(?:E\w{5}(?:\[PID: ?\d+\][\d\-:. ]*\(E\w{5}\))?:? *)?)?"
    r"(?P<text>.{0,200}).*$", re.MULTILINE)
"""A code at the start of a line, or in brackets after the title, and a colon; the newer layout has
the process and the time between both."""
RETURNED = re.compile(
    r"^.*(?:error code is|err(?:or)?[ _]?(?:code|no)?\s*[=:]+|"
    r"ret(?:urn)?[ _]?(?:code|value)?\s*(?:[=:]+|is)|runtime result\s*=|"
    r"\b(?:rt[A-Z]|acl)\w*[^\s\"]* failed:|"
    r"aclError)\s*:?\s*(?P<ascend>[1235]\d{5})\b.*$", re.MULTILINE | re.IGNORECASE)
WORDED = re.compile(r"^.*\[Error\]: *(?P<text>\S[^\n]{10,160}?)\.? *$", re.MULTILINE)
"""What torch_npu prints below the number that a call returned."""

ON_A_CARD = re.compile(
    r"\baic(?:ore|pu)\b|\baivec\b|vector core|errorStr|error from device|Kernel task happen|"
    r"\bRankID:|^\[rank\d+\]|\brt[A-Z]\w+ execute failed|\baclrt[A-Z]\w+|\bstream sync",
    re.IGNORECASE | re.MULTILINE)
"""What stands beside a code of a program that runs on a card, and never beside one of ATC."""

# [PID: 1] and the time stand between a code and its message.
MESSAGE = (r"^(?:.*[\t (:\]])?(?P<ascend>E[1-9A-Z]\d{4})\)?: ?"
           r"(?:\[PID: ?\d+\] *)?(?:\d{4}-\d\d-\d\d-[\d:.]+ *)?")
REASON = r"(?P<text>[^\n]{0,300}?) *\bReason: *(?P<reason>[^\n]{3,300}?)"
POSSIBLE = (r"(?P<text>[^\n]{0,300}?)(?:\n| )[^\n]{0,120}?\bPossible Cause: *"
            r"(?P<reason>[^\n]{3,300}?)")
SOLUTION = (r"(?:\n(?![^\n]*\bE[1-9A-Z]\d{4}\b)[^\n]{0,400}){0,2}?(?:\n[^\n]{0,120}?| )"
            r"\bSolution: *(?!N/A)(?P<solution>[^\n]{3,400})$")
OWN_SOLUTION = gettext_noop("CANN's own advice: %(solution)s")


def _own(pattern: str, headline: str, remedy: str, fault: str = "") -> Cause:
    return Cause("ascend_reason", re.compile(pattern, re.MULTILINE), headline, remedy, SCHEME,
                 fault)


OPERATOR_STOPPED = _own(
    r"^.*\berrorStr: *(?P<reason>[^.\n]{3,200}).*$",
    gettext_noop("An operator was stopped on the card: %(reason)s."),
    gettext_noop("Run again with ASCEND_LAUNCH_BLOCKING=1: the traceback then names the call. "
                 "Check shapes, types and addresses of that operator; if another card runs it, "
                 "suspect the card."), SCRIPT)
SOLVED = _own(
    MESSAGE + REASON + SOLUTION,
    gettext_noop("CANN says (%(ascend)s): %(text)s Reason: %(reason)s"), OWN_SOLUTION)
REASONED = _own(
    MESSAGE + REASON + "$",
    gettext_noop("CANN says (%(ascend)s), but not what to do: %(text)s Reason: %(reason)s"), "")
SUPPOSED = _own(
    MESSAGE + POSSIBLE + SOLUTION,
    gettext_noop("CANN says (%(ascend)s): %(text)s Possible cause: %(reason)s"), OWN_SOLUTION)
ADVISED = _own(
    MESSAGE + r"(?P<text>[^\n]{0,300}?)" + SOLUTION,
    gettext_noop("CANN says (%(ascend)s): %(text)s"), OWN_SOLUTION)
UNKNOWN_CODE = Cause(
    "ascend_code", None,
    gettext_noop("No cause is known for %(ascend)s (%(module)s). The log says: %(text)s"), "",
    SCHEME)
UNKNOWN_RETURN = Cause(
    "ascend_return_code", None,
    gettext_noop("No cause is known for %(ascend)s, which the NPU's runtime returned."), "",
    RETURN_CODES)
CODE_CAUSES = (
    OPERATOR_STOPPED, SOLVED, REASONED, SUPPOSED, ADVISED,
    *(Cause(code, None, meaning.headline, meaning.remedy, SCHEME, meaning.fault)
      for meaning in MEANINGS.values() for code in ("ascend_code", "ascend_return_code")),
    UNKNOWN_CODE, UNKNOWN_RETURN)
"""Every sentence about a code, under the names that a diagnosis gives them."""
