"""The error codes that CANN prints, what they mean and what to do.

Six characters: E, the module, four digits, of which 9000 to 9999 are faults inside the module. Six
digits 107…, 207… and 507… are what the runtime returns. Most messages name a reason and a solution
of their own: what the log says about itself comes before what a class of codes means, and of a
code of which nothing is known no remedy is given.
"""

import re

from django.utils.translation import gettext_noop

from workers.logs.causes import Cause

TROUBLESHOOTING = "https://www.hiascend.com/document/detail/en/canncommercial/850/maintenref/"
SCHEME = TROUBLESHOOTING + "troubleshooting/troubleshooting_0225.html"
HCCL = ("https://www.hiascend.com/document/detail/zh/CANNCommunityEdition/850/maintenref/"
        "troubleshooting/")
RETURN_CODES = ("https://github.com/Ascend/pytorch/blob/master/torch_npu/csrc/core/npu/"
                "NPUErrorCodes.h")

MODULES = {
    "1": "GE", "2": "FE", "3": "AI CPU", "4": "TE Fusion", "7": "Vector",
    "8": "Vector", "B": "TBE Pass", "C": "Auto Tune", "D": "RL Tune", "E": "Runtime",
    "F": "LxFusion", "G": "AOE", "H": "ACL", "I": "HCCL", "J": "HCCP", "K": "Profiling",
    "L": "Driver", "M": "Queue Schedule", "N": "DVPP", "O": "AMCT", "P": "Dump", "Z": "aclnn",
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
HARDWARE = gettext_noop(
    "Put the node in maintenance, look at npu-smi info -t health and the event log of the card, "
    "and report the card to the manufacturer.")
CARD_NUMBERS = gettext_noop(
    "Compare the card numbers of the script with ASCEND_RT_VISIBLE_DEVICES and npu-smi info.")
FREE_MEMORY = gettext_noop(
    "Lower the batch or the sequence length, or spread the model over more cards; end what else "
    "holds memory on the card.")
PARAMETERS = gettext_noop(
    "Correct the argument that the line names with “Edit and run again”.")

CODES = {
    "EI0001": (gettext_noop("An environment variable of HCCL has a value that is not allowed "
                            "(EI0001)."), PARAMETERS),
    "EI0002": (gettext_noop("A collective operation timed out: a rank waited in vain for another "
                            "(EI0002)."), FIRST_RANK),
    "EI0003": (gettext_noop("A collective operation got an argument that is not allowed (EI0003)."),
               SAME_EVERYWHERE),
    "EI0004": (gettext_noop("The rank table is not valid or does not fit the cluster (EI0004)."),
               gettext_noop("Regenerate the rank table from the nodes' real device addresses "
                            "(hccn_tool -i N -ip -g).")),
    "EI0005": (gettext_noop("The ranks called a collective operation with different arguments "
                            "(EI0005)."), SAME_EVERYWHERE),
    "EI0006": (gettext_noop("The ranks did not connect to each other in time (EI0006): one is "
                            "missing, or the link is down."), FIRST_RANK),
    "EI0007": (gettext_noop("HCCL got no memory or other resource (EI0007)."), FREE_MEMORY),
    "EI0008": (gettext_noop("The ranks have different versions of CANN (EI0008)."),
               SAME_EVERYWHERE),
    "EI0013": (gettext_noop("The network between two cards lost packets until RoCE gave up, or the "
                            "other rank had ended (EI0013)."), FIRST_RANK),
    "EL0002": (gettext_noop("The driver knows no card of that number (EL0002)."), CARD_NUMBERS),
    "EE1001": (gettext_noop("The runtime was called with an argument that is not allowed "
                            "(EE1001)."), OPERATOR),
    "EE1002": (gettext_noop("A stream did not end in time (EE1002): mostly one rank waits for "
                            "another."), FIRST_RANK),
}
NUMBERS = {
    "107001": (gettext_noop("The runtime knows no card of that number (107001)."), CARD_NUMBERS),
    "507008": (gettext_noop("The runtime could not find out the chip's type (507008)."), REPORT),
    "507010": (gettext_noop("The card's task scheduler stopped answering (507010)."), HARDWARE),
    "507011": (gettext_noop("The execution of the model failed on the card (507011)."), OPERATOR),
    "507012": (gettext_noop("The card's task scheduler did not report in time (507012)."), REPORT),
    "507014": (gettext_noop("An operator on the AI Core did not end in time (507014)."), OPERATOR),
    "507015": (gettext_noop("An operator on the AI Core failed (507015)."), OPERATOR),
    "507016": (gettext_noop("An operator on the AI Core trapped (507016)."), OPERATOR),
    "507017": (gettext_noop("An operator on the AI CPU did not end in time (507017)."), OPERATOR),
    "507018": (gettext_noop("An operator on the AI CPU failed (507018)."), OPERATOR),
    "507033": (gettext_noop("The card did not start (507033)."), HARDWARE),
    "507034": (gettext_noop("An operator on the vector core did not end in time (507034)."),
               OPERATOR),
    "507035": (gettext_noop("An operator on the vector core failed (507035)."), OPERATOR),
    "507046": (gettext_noop("A stream did not end in time (507046): mostly one rank waits for "
                            "another."), FIRST_RANK),
    "507053": (gettext_noop("The card's memory has an error that cannot be corrected (507053)."),
               HARDWARE),
    "507054": (gettext_noop("The card's memory has an error of several bits (507054)."), HARDWARE),
    "507056": (gettext_noop("The link between two cards broke (507056)."), HARDWARE),
    "507899": (gettext_noop("The driver reports an internal error (507899)."), REPORT),
    "507900": (gettext_noop("The AI CPU reports an internal error (507900)."), REPORT),
}


def _is_printed(code: str, ahead: str = "") -> re.Pattern[str]:
    """At the start of a line, or in brackets after the title, and followed by a colon; ``ahead``
    looks at the rest of the line."""
    return re.compile(rf"^(?:.*[\t (]|\[[^\]\n]*\])?{code}\)?: ?{ahead}"
                      r"(?:Inner Error!?\s+(?:E\w{5}:? *)?)?(?P<text>.{0,200}).*$", re.MULTILINE)


def _is_returned(number: str) -> re.Pattern[str]:
    return re.compile(rf"^.*(?:error code is|err(?:or)?[ _]?(?:code|no)?\s*[=:]+|"
                      rf"ret(?:urn)?[ _]?(?:code|value)?\s*(?:[=:]+|is)|aclError)\s*:?\s*"
                      rf"{number}\b.*$", re.MULTILINE | re.IGNORECASE)


# [PID: 1] and the time stand between a code and its message.
MESSAGE = (r"^(?:.*[\t (:\]])?(?P<ascend>E[1-9A-Z]\d{4})\)?: ?"
           r"(?:\[PID: ?\d+\] *)?(?:\d{4}-\d\d-\d\d-[\d:.]+ *)?")
REASON = r"(?P<text>[^\n]{0,300}?) *\bReason: *(?P<reason>[^\n]{3,300}?)"
POSSIBLE = (r"(?P<text>[^\n]{0,300}?)(?:\n| )[^\n]{0,120}?\bPossible Cause: *"
            r"(?P<reason>[^\n]{3,300}?)")
SOLUTION = (r"(?:\n(?![^\n]*\bE[1-9A-Z]\d{4}\b)[^\n]{0,400}){0,2}?(?:\n[^\n]{0,120}?| )"
            r"\bSolution: *(?!N/A)(?P<solution>[^\n]{3,400})$")
OWN_SOLUTION = gettext_noop("CANN's own advice: %(solution)s")


def _own(pattern: str, headline: str, remedy: str) -> Cause:
    return Cause("ascend_reason", re.compile(pattern, re.MULTILINE), headline, remedy, SCHEME)


OPERATOR_STOPPED = _own(
    r"^.*\berrorStr: *(?P<reason>[^.\n]{3,200}).*$",
    gettext_noop("An operator was stopped on the card: %(reason)s."),
    gettext_noop("Run again with ASCEND_LAUNCH_BLOCKING=1: the traceback then names the call. "
                 "Check shapes, types and addresses of that operator; if another card runs it, "
                 "suspect the card."))
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
BY_CODE = tuple(
    Cause("ascend_code", _is_printed(f"(?P<ascend>{code})"), headline, remedy,
          HCCL + "atlaserrorcode_15_0240.html" if code.startswith("EI") else SCHEME)
    for code, (headline, remedy) in CODES.items())
BY_NUMBER = tuple(
    Cause("ascend_return_code", _is_returned(f"(?P<ascend>{number})"), headline, remedy,
          RETURN_CODES)
    for number, (headline, remedy) in NUMBERS.items())
ANY_CODE = (
    Cause("ascend_code", _is_printed(
        r"(?P<ascend>E(?P<module>[1-9A-Z])[0-8]\d{3})",
        r"(?=.{0,200}\b(?i:parameters?|arguments?|options?|attributes?)\b)"),
          gettext_noop("CANN (%(module)s) refuses what it was given, %(ascend)s: %(text)s"),
          PARAMETERS, SCHEME),
    Cause("ascend_code", _is_printed(r"(?P<ascend>E(?P<module>[1-9A-Z])[0-8]\d{3})"),
          gettext_noop("No cause is known for %(ascend)s (%(module)s). The log says: %(text)s"),
          "", SCHEME),
    Cause("ascend_code", _is_printed(r"(?P<ascend>E(?P<module>[1-9A-Z])9\d{3})"),
          gettext_noop("CANN (%(module)s) failed inside, %(ascend)s: %(text)s"), REPORT, SCHEME),
)
ANY_NUMBER = (
    Cause("ascend_return_code", _is_returned(r"(?P<ascend>[125]\d7\d{3})"),
          gettext_noop("No cause is known for %(ascend)s, which the NPU's runtime returned."), "",
          RETURN_CODES),
)
ASCEND_CAUSES = (OPERATOR_STOPPED, SOLVED, *BY_CODE, REASONED, *BY_NUMBER, SUPPOSED, ADVISED,
                 *ANY_CODE, *ANY_NUMBER)
