"""What the code of a diagnosis means, in a sentence."""

import re

from django.utils.translation import gettext, gettext_noop

from workers.logs.diagnosis import BY_CODE

# Codes whose causes have several headlines, or one that says nothing without its values.
SEVERAL = {
    "ascend_code": gettext_noop("CANN reports an error code."),
    "ascend_reason": gettext_noop("CANN names the reason of its error."),
    "ascend_return_code": gettext_noop("The NPU's runtime returned an error."),
    "checkpoint_missing": gettext_noop("The checkpoint was not found."),
    "device_memory": gettext_noop("The memory of an NPU was not enough."),
    "killed": gettext_noop("The command was ended by a signal."),
    "oom_killer": gettext_noop("The kernel's out-of-memory killer ended a process of the job."),
    "python_error": gettext_noop("The Python program ended with an error."),
    "time_limit": gettext_noop("The time limit was reached."),
    "tool_missing": gettext_noop("A command was not found on the node."),
}
HEADLINES = dict(reversed(BY_CODE))  # the first of each code
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]")


def diagnosis_label(code: str) -> str:
    """The sentence of a code in the language of the page; values of one job are left out.

    A code that is known no longer stays as it is.
    """
    if not (headline := SEVERAL.get(code) or HEADLINES.get(code)):
        return code
    return PLACEHOLDER.sub("…", gettext(headline))
