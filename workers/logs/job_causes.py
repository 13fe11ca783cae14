"""Causes that a job's own end shows, beside its log: status, signal, the kernel, a time limit."""

from django.utils.translation import gettext_noop

from engagements.text.nested_sentences import ngettext_noop
from toolreaders.causes.cause import ENVIRONMENT, Cause
from toolreaders.causes.log_causes import FIELD, MEMORY, PROVIDE_COMMAND, SHELL

OOM_KILLER = Cause("oom_killer", None, gettext_noop(
    "A process of the job was ended by SIGKILL, and the kernel's out-of-memory killer ended "
    "%(kills)s processes on this node while the job ran."),
    gettext_noop("Use fewer data loader processes or ranks per node, load the weights in parts, "
                 "or end what else uses the memory (free -g). dmesg names the process."), MEMORY,
    ENVIRONMENT)

# Of a status alone: nothing in the log says more.
STATUS_ONLY = {
    127: Cause("tool_missing", None, gettext_noop(
        "A command was not found (exit status 127); the log does not name it."),
        PROVIDE_COMMAND, SHELL, ENVIRONMENT),
    126: Cause("not_executable", None, gettext_noop(
        "A command was found but cannot be executed (exit status 126); the log does not name it."),
        gettext_noop("Look at the rights and the architecture of what the job calls."), SHELL,
        ENVIRONMENT),
}
SIGNALLED = Cause("killed", None, gettext_noop(
    "The command was ended by signal %(signal)s (%(name)s)."),
    gettext_noop("The desk did not send it. SIGKILL comes from the kernel's out-of-memory killer "
                 "(dmesg) or a person, SIGTERM from a person or a shutdown; SIGSEGV and SIGABRT "
                 "are crashes of the program."), SHELL)
LIMIT_SILENT = Cause("time_limit", None, ngettext_noop(
    "The log had not grown for %(minutes)d minute when the time limit came: the command "
    "waited.",
    "The log had not grown for %(minutes)d minutes when the time limit came: the "
    "command waited.", "minutes"),
    gettext_noop("See what the last lines wait for: another rank or node (HCCL), data, a "
                 "download, a port, a person's answer. Fix that; a longer limit alone does not "
                 "help."), FIELD)
LIMIT_UNDER_WAY = Cause("time_limit", None, gettext_noop(
    "It had come to %(done)d of %(total)d when the time limit came."),
    gettext_noop("Use “Edit and run again” with a longer time limit or fewer steps; if the pace is "
                 "slower than it should be, look at the step times first."), FIELD)
LIMIT_OPEN = Cause("time_limit", None, gettext_noop(
    "The log shows no known cause why the time limit was reached."),
    gettext_noop("Read the last lines: if the work went on, use “Edit and run again” with a "
                 "longer time limit; if it waited, fix what it waited for."), FIELD)
TIME_LIMIT = (LIMIT_SILENT, LIMIT_UNDER_WAY, LIMIT_OPEN)
