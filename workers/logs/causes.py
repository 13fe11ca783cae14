"""Why jobs fail: what a log shows, what that means, what to do next, and who says so.

The order is that of `CAUSES`: what comes first explains what comes later. Named groups of a pattern
fill the placeholders of the sentences.
"""

import re
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop

from engagements.text.nested_sentences import ngettext_noop

SHELL = "POSIX.1-2017, Shell Command Language, 2.8.2 Exit Status for Commands"
PYTHON = "https://docs.python.org/3/library/exceptions.html"
ELASTIC = "https://docs.pytorch.org/docs/stable/elastic/errors.html"
MEMORY = "https://docs.kernel.org/admin-guide/mm/concepts.html#oom-killer"
TORCH_NPU = "https://github.com/Ascend/pytorch"
MEGATRON = "https://github.com/NVIDIA/Megatron-LM"
ERRNO = "https://man7.org/linux/man-pages/man3/errno.3.html"
DCMI = "https://github.com/vllm-project/vllm-ascend/issues/2698"
DRIVER_CODES = ("https://www.hiascend.com/document/detail/zh/canncommercial/80RC22/"
                "developmentguide/maintenref/troubleshooting/atlaserrorcode_15_0263.html")
FIELD = "K"  # general practice, as workers.rules.citations has it

# What launchers print before a line of a rank, a container or a service: [rank3]:, (Engine pid=8),
# `worker-1  | `.
START = r"^(?:\[[^\]\n]{1,60}\]:?\s*|\([^)\n]{1,60}\)\s*|[\w.-]{1,40}\s+\|\s*)?"
SHELL_START = (r"^-?(?:\S*/)?(?:sh|bash|dash|ash|busybox|command\.\d+|[\w.-]+\.sh): "
               r"(?:(?:line |第 ?)?\d+(?: ?行)?: )?(?:(?:exec|eval): )?(?:line \d+: )?")
WEIGHTS = (r"ckpt|checkpoint|model_optim_rng|weights|\.pth?\b|\.safetensors|\.bin\b|\.om\b|"
           r"\.onnx|\.pb\b")


@dataclass(frozen=True)
class Cause:
    """One reason for a failure.

    Args:
        pattern: what the log shows, searched in whole lines (MULTILINE).
        headline, remedy: message ids with the pattern's named groups as placeholders; the remedy
            is empty where nothing is known that helps.
        source: where the meaning is written down.
        status: exit status that says the same; then this cause comes before all others.
        is_last: the last place in the log counts, not the first.
    """

    code: str
    pattern: re.Pattern[str]
    headline: str
    remedy: str
    source: str
    status: int | None = None
    is_last: bool = False


def _cause(code: str, pattern: str, headline: str, remedy: str, source: str, **more: Any) -> Cause:
    return Cause(code, re.compile(pattern, re.MULTILINE), headline, remedy, source, **more)


PROVIDE_COMMAND = gettext_noop(
    "Install it on the node, or name the node's environment script (set_env.sh) that puts its "
    "folder into PATH; then try again.")

SHARED_MEMORY = _cause(
    "shared_memory", r"^.*(?:insufficient shared memory|unable to open shared memory object|"
    r"Bus error.*shm|/dev/shm.*No space left).*$",
    gettext_noop("The shared memory (/dev/shm) of the node or container is full."),
    gettext_noop("Enlarge /dev/shm (for a container --shm-size), or load data with fewer "
                 "worker processes."), "https://docs.pytorch.org/docs/stable/data.html")
DISK_FULL = _cause(
    "disk_full",
    r"^.*(?:No space left on device|Disk quota exceeded|\[Errno (?:28|122)\]).*$",
    gettext_noop("The disk of the node is full, or the user's quota is used up."),
    gettext_noop("Free space where the job writes (df -h shows what is full), or name another "
                 "output folder; then try again."), ERRNO)
DEVICE_MEMORY = (
    _cause("device_memory",
           r"^.*NPU out of memory\. Tried to allocate (?P<wanted>[\d.]+ \w+) \(NPU (?P<card>\d+); "
           r"(?P<total>[\d.]+ \w+) total capacity.*$",
           gettext_noop("NPU %(card)s ran out of memory: %(wanted)s more were wanted, it has "
                        "%(total)s in all."),
           gettext_noop("Lower the micro batch or the sequence length, recompute activations, "
                        "or spread the model over more cards (TP, PP). If npu-smi shows memory "
                        "in use before the start, end what holds it."), TORCH_NPU),
    _cause("device_memory",
           r"^.*(?:(?:NPU|CUDA) out of memory|Heap_alloc_managed out of memory|EL0004\b|"
           r"(?:error code is|ret(?:urn)?[ =:]*|aclError:? ?)(?:207001|207018|245002)\b).*$",
           gettext_noop("The memory of an NPU was not enough."),
           gettext_noop("Lower the batch or the sequence length, or spread the model over more "
                        "cards. If npu-smi shows memory in use before the start, end what holds "
                        "it."), DRIVER_CODES),
)
HOST_MEMORY = _cause(
    "host_memory", r"^.*(?:^MemoryError\b|: MemoryError\b|Cannot allocate memory|std::bad_alloc|"
    r"DefaultCPUAllocator: (?:can't|not enough).*memory|Out of memory: Killed process|oom-kill).*$",
    gettext_noop("The main memory of the node was not enough."),
    gettext_noop("Use fewer data loader processes or ranks per node, load the weights in parts, "
                 "or end what else uses the memory (free -g)."), MEMORY)
OOM_KILLER = _cause(
    "oom_killer", r"^.*$",
    gettext_noop("A process of the job was ended by SIGKILL, and the kernel's out-of-memory killer "
                 "ended %(kills)s processes on this node while the job ran."),
    gettext_noop("Use fewer data loader processes or ranks per node, load the weights in parts, "
                 "or end what else uses the memory (free -g). dmesg names the process."), MEMORY)

TOOL_MISSING = (
    _cause("tool_missing",
           SHELL_START + r"(?P<name>[^\s:]+): (?:(?:command )?not found|未找到命令)$",
           gettext_noop("The command %(name)s was not found on the node."),
           PROVIDE_COMMAND, SHELL, status=127),
    _cause("tool_missing", r"^(?:\S*/)?(?:env|setsid|nohup|timeout|exec|busybox|xargs|numactl|"
           r"command\.\d+): (?:\S+: )?(?:failed to (?:run command|execute) )?"
           r"[‘'\"]?(?P<name>[^\s‘’'\":]+)[’'\"]?: "
           r"(?:No such file or directory|没有那个文件或目录)$",
           gettext_noop("The command %(name)s was not found on the node."),
           PROVIDE_COMMAND, SHELL, status=127),
    _cause("tool_missing", SHELL_START
           + r"(?P<name>[^\s:]+): (?:No such file or directory|没有那个文件或目录)$",
           gettext_noop("The command or script %(name)s does not exist on the node."),
           PROVIDE_COMMAND, SHELL, status=127),
)
NOT_EXECUTABLE = (
    _cause("other_architecture",
           r"^.*?(?P<name>[^\s:]+): (?:Exec format error|cannot execute binary file).*$",
           gettext_noop("%(name)s is built for another processor architecture than the node's."),
           gettext_noop("Install the build for the node's architecture (uname -m); Ascend servers "
                        "are mostly aarch64."), SHELL, status=126),
    _cause("not_executable", SHELL_START + r"(?P<name>[^\s:]+): (?:cannot execute: )?"
           r"(?:Permission denied|权限不够|required file not found|bad interpreter.*)$",
           gettext_noop("%(name)s was found but cannot be executed."),
           gettext_noop("Make it executable (chmod +x), check that the job's user may read it and "
                        "that the interpreter in its first line exists."), SHELL, status=126),
)
CUDA_ONLY = _cause(
    "cuda_only", r"^.*(?:Torch not compiled with CUDA enabled|Found no NVIDIA driver on your "
    r"system|No CUDA GPUs are available|libcuda\.so|libcudart\.so).*$",
    gettext_noop("The script asks for CUDA, which an NPU node does not have."),
    gettext_noop("Migrate the call: import torch_npu and transfer_to_npu, or name the device "
                 "“npu”. A source scan lists the places."), TORCH_NPU)
LIBRARY_MISSING = _cause(
    "library_missing", r"^.*?(?P<name>[\w.+-]+\.so[\w.]*): cannot open shared object file.*$",
    gettext_noop("The library %(name)s is not found."),
    gettext_noop("Name the node's environment script (set_env.sh of CANN, of the driver or of "
                 "nnal) so that LD_LIBRARY_PATH holds its folder, or install the package that "
                 "brings it."), "https://man7.org/linux/man-pages/man8/ld.so.8.html")
PROVIDE_MODULE = gettext_noop(
    "Install it for the Python that the job names, or name the Python of the environment that has "
    "it; then try again.")
MODULE_MISSING = (
    _cause("module_missing", START + r"(?:ModuleNotFoundError|ImportError): No module named "
           r"'?(?P<name>[\w.]+)'?.*$",
           gettext_noop("The Python module %(name)s is not installed."), PROVIDE_MODULE, PYTHON),
    _cause("module_missing", r"^\S*python[\d.]*: (?:Error while finding module specification for "
           r"'\S+' \(ModuleNotFoundError: )?No module named '?(?P<name>[\w.]+)'?.*$",
           gettext_noop("The Python module %(name)s is not installed."), PROVIDE_MODULE, PYTHON),
    _cause("import_failed", START + r"ImportError: cannot import name '(?P<name>[^']+)' from "
           r"'(?P<module>[^']+)'.*$",
           gettext_noop("The module %(module)s has no %(name)s: its version is not the one that "
                        "the script was written for."),
           gettext_noop("Install the version of %(module)s that the project's requirements name."),
           PYTHON),
)
SCRIPT_MISSING = (
    _cause("script_missing", r"^.*can't open file '(?P<path>[^'\n]+)': \[Errno \d+\].*$",
           gettext_noop("The script %(path)s does not exist on the node."),
           gettext_noop("Correct the path with “Edit and run again”, or copy the project to the "
                        "node."), PYTHON),
    _cause("script_missing", r"^(?:\S*/)?(?:sh|bash|dash): (?:\d+: )?(?:cannot open|can't open) "
           r"'?(?P<path>[^\s':]+)'?.*$",
           gettext_noop("The script %(path)s does not exist on the node."),
           gettext_noop("Correct the path with “Edit and run again”, or copy the project to the "
                        "node."), SHELL, status=127),
)
FIND_CHECKPOINT = gettext_noop(
    "Check path and step of the checkpoint on the node, and that all ranks' files are there; then "
    "correct it with “Edit and run again”.")
CHECKPOINT_MISSING = (
    _cause("checkpoint_missing", START + r"FileNotFoundError: .*?'(?P<path>[^'\n]*(?:"
           + WEIGHTS + r")[^'\n]*)'.*$",
           gettext_noop("The checkpoint or weight file %(path)s does not exist."),
           FIND_CHECKPOINT, PYTHON),
    _cause("checkpoint_missing", r"^.*(?:Error no file named (?P<path>\S+)|'--exit-on-missing-"
           r"checkpoint' set).*$",
           gettext_noop("The checkpoint was not found."), FIND_CHECKPOINT, MEGATRON),
    _cause("checkpoint_missing", r"^.*could not find the metadata file (?P<path>\S+).*$",
           gettext_noop("The checkpoint was not found: %(path)s is missing."),
           FIND_CHECKPOINT, MEGATRON),
)
FILE_MISSING = _cause(
    "file_missing", START + r"FileNotFoundError: \[Errno 2\].*?'(?P<path>[^'\n]+)'.*$",
    gettext_noop("The file or folder %(path)s does not exist on the node."),
    gettext_noop("Correct the path with “Edit and run again”, or copy the file to the node."),
    PYTHON)
NO_PERMISSION = _cause(
    "no_permission", START + r"PermissionError: \[Errno \d+\].*?'(?P<path>[^'\n]+)'.*$",
    gettext_noop("The job's user may not use %(path)s."),
    gettext_noop("Give the user the right to it (for the NPU's devices: the group "
                 "HwHiAiUser), or name another folder."), PYTHON)
LICENCE = _cause(
    "licence", r"(?i)^.*(?:licen[cs]e[^\n]{0,60}(?:expired|invalid|not found|denied|"
    r"(?:check|verification) failed|unavailable)|no valid licen[cs]e).*$",
    gettext_noop("A licence is missing, expired or refused."),
    gettext_noop("Have the licence of the tool named in the log renewed or installed on the node."),
    FIELD)
CARD_BUSY = _cause(
    "card_busy", r"^.*(?:because the device is used|ret is -8020|EL0005\b|Resource_Busy).*$",
    gettext_noop("A card is in use by another process or container."),
    gettext_noop("npu-smi info lists the processes on the cards; end what does not belong there, "
                 "and give a container its cards for itself."), DRIVER_CODES)
CARD_ALARM = _cause(
    "card_alarm", r"^.*(?:(?:HBM|multi)[ -]?bit ECC|EL0001\b).*$",
    gettext_noop("A card is faulty or absent."),
    gettext_noop("Look at npu-smi info -t health of the card and at the node's event log; put the "
                 "node in maintenance and report the card."), DRIVER_CODES)
NO_DRIVER = (
    _cause("no_driver", r"^.*dcmi mod(?:ule|el) initializ\w* failed.*?ret is (?P<ret>-\d+).*$",
           gettext_noop("The NPU driver does not answer (DCMI returned %(ret)s)."),
           gettext_noop("Check that driver and firmware are installed and loaded, that the user "
                        "belongs to the driver's group, and that no other container holds the "
                        "devices."), DCMI),
    _cause("no_npu", r"(?i)^.*(?:can ?not find (?:any )?(?:npu|davinci)|"
           r"no npu devices? (?:is |are )?(?:found|available)|there is no npu "
           r"(?:card|chip)|error code is 107001\b).*$",
           gettext_noop("No NPU was found for the job."),
           gettext_noop("Check with npu-smi info that the card exists, that "
                        "ASCEND_RT_VISIBLE_DEVICES names cards of this node, and that a container "
                        "got /dev/davinci*."),
           TORCH_NPU),
    _cause("driver_mismatch", r"(?i)^.*\b(?:driver|firmware|CANN|toolkit)\b[^\n]{0,40}\bversion"
           r"[^\n]{0,60}(?:does ?n[o']t match|not match(?:ed)?|mismatch|incompatible).*$",
           gettext_noop("The versions of driver, firmware and CANN do not belong together."),
           gettext_noop("Compare them with the compatibility table of the CANN release, and update "
                        "what is older."), "https://www.hiascend.com/hardware/firmware-drivers"),
)
HCCL_CANNOT_LISTEN = gettext_noop(
    "HCCL cannot listen on port %(port)s: another process uses it.")
HCCL_PORTS = gettext_noop(
    "End the earlier run that holds it (npu-smi info, ss -ltnp), or give HCCL other ports: "
    "HCCL_IF_BASE_PORT or HCCL_HOST_SOCKET_PORT_RANGE on the host, HCCL_NPU_SOCKET_PORT_RANGE on "
    "the card.")
PORT_IN_USE = (
    _cause("port_in_use", r"^.*\b(?:have|has) been bound already\b.*(?:\n.*){0,3}?\n.*\blisten\w*\b"
           r".*\bport ?\[(?P<port>\d+)\].*$",
           HCCL_CANNOT_LISTEN, HCCL_PORTS, ERRNO),
    _cause("port_in_use", r"^.*\blisten\b.*\bport ?\[(?P<port>\d+)\] fail\b.*"
           r"\bused by other process.*$",
           HCCL_CANNOT_LISTEN, HCCL_PORTS, ERRNO),
    _cause("port_in_use", r"^.*failed to listen.*?port: (?P<port>\d+).*(?:EADDRINUSE|in use).*$",
           gettext_noop("Port %(port)s is in use on the node."),
           gettext_noop("End the earlier run that holds it (ss -ltnp), or choose another "
                        "--master_port."), ERRNO),
    _cause("port_in_use", r"^.*(?:EADDRINUSE|Address already in use|EI0019\b|EJ0003\b|"
           r"\b(?:have|has) been bound already).*$",
           gettext_noop("A network port that the job needs is in use on the node."),
           gettext_noop("End the earlier run that holds it (ss -ltnp), or choose another port."),
           ERRNO),
)
RANK_MISSING = _cause(
    "rank_missing", r"^.*Timed out after (?P<seconds>\d+) seconds waiting for clients\. "
    r"(?P<joined>\d+)/(?P<ranks>\d+) clients joined.*$",
    gettext_noop("Only %(joined)s of %(ranks)s ranks joined within %(seconds)s s."),
    gettext_noop("Start the job on all nodes, with the same MASTER_ADDR, MASTER_PORT and number of "
                 "ranks, and check that the nodes reach each other."), ELASTIC)
HCCL_TIMEOUT = _cause(
    "hccl_timeout", r"(?i)^.*(?:wait socket establish timeout|hccl[^\n]{0,80}time ?d? ?out|"
    r"ProcessGroupHCCL[^\n]{0,120}timeout).*$",
    gettext_noop("The ranks waited for each other in vain (HCCL time-out)."),
    gettext_noop("Find the rank that stopped first: its own error stands earlier, or it is missing "
                 "from the log. If all wait, check the links (hccn_tool -i N -link -g and -tls -g) "
                 "and HCCL_CONNECT_TIMEOUT."),
    "https://www.hiascend.com/document/detail/en/canncommercial/850/commlib/hcclug/"
    "hcclug_000050.html")
STORE_TIMEOUT = _cause(
    "rank_missing",
    START + r".*\bstore->get\('[^']*'\) got error: (?:Socket Timeout|wait timeout).*$",
    gettext_noop("A rank waited longer than its time limit for another one, which had not come to "
                 "the same place yet: it was still preparing data, for example."),
    gettext_noop("Prepare the data (tokenising, a cache) once before the training, or raise the "
                 "script's time limit (ddp_timeout, timeout of init_process_group). If the other "
                 "rank stopped, its own error stands earlier."), ELASTIC)
KILLED = (
    _cause("killed", r"^.*Signal (?P<signal>\d+) \((?P<name>SIG\w+)\) received by PID "
           r"(?P<process>\d+).*$",
           gettext_noop("A rank was ended by signal %(signal)s (%(name)s), process %(process)s."),
           gettext_noop("SIGKILL without a word is mostly the out-of-memory killer (dmesg) or a "
                        "person; SIGSEGV and SIGABRT are crashes of a library: look for the last "
                        "lines of that rank."), ELASTIC),
    _cause("killed", r"^.*exitcode\s*: -(?P<signal>\d+)\b.*$",
           gettext_noop("A rank was ended by signal %(signal)s."),
           gettext_noop("Signal 9 without a word is mostly the out-of-memory killer (dmesg) or a "
                        "person; 11 and 6 are crashes of a library: look for the last lines of "
                        "that rank."), ELASTIC),
)
PYTHON_LINE = (
    r"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)): "
    r"(?P<text>\S.{0,200}).*$")
# What a program says when it is told to stop is no cause of its end.
ASKED_TO_STOP = r"(?!(?:\w+\.)*(?:SignalException|KeyboardInterrupt|SystemExit)\b)"


def _python_error(ahead: str = "") -> Cause:
    return _cause(
        "python_error", START + r"(?!torch\.distributed\.elastic)" + ahead + PYTHON_LINE,
        gettext_noop("The Python program ended with %(type)s: %(text)s"),
        gettext_noop("The traceback above that line names file and line; correct the script or its "
                     "parameters, then use “Edit and run again”."), PYTHON, is_last=True)


PYTHON_ERROR = _python_error()
# Of a status alone: nothing in the log says more.
STATUS_ONLY = {
    127: _cause("tool_missing", r"$^", gettext_noop(
        "A command was not found (exit status 127); the log does not name it."),
        PROVIDE_COMMAND, SHELL),
    126: _cause("not_executable", r"$^", gettext_noop(
        "A command was found but cannot be executed (exit status 126); the log does not name it."),
        gettext_noop("Look at the rights and the architecture of what the job calls."), SHELL),
}
SIGNALLED = _cause(
    "killed", r"$^", gettext_noop("The command was ended by signal %(signal)s (%(name)s)."),
    gettext_noop("The desk did not send it. SIGKILL comes from the kernel's out-of-memory killer "
                 "(dmesg) or a person, SIGTERM from a person or a shutdown; SIGSEGV and SIGABRT "
                 "are crashes of the program."), SHELL)

CAUSES = (SHARED_MEMORY, DISK_FULL, *DEVICE_MEMORY, HOST_MEMORY, CUDA_ONLY, LIBRARY_MISSING,
          *MODULE_MISSING, *SCRIPT_MISSING, *CHECKPOINT_MISSING, FILE_MISSING, NO_PERMISSION,
          CARD_BUSY, CARD_ALARM, *NO_DRIVER, LICENCE, *PORT_IN_USE, RANK_MISSING)
# After those, and after the codes of CANN.
SYMPTOMS = (HCCL_TIMEOUT, STORE_TIMEOUT, *TOOL_MISSING, *NOT_EXECUTABLE, *KILLED, PYTHON_ERROR)
# Of a job that its time limit ended: that it was stopped says the job itself.
WHILE_RUNNING = (HCCL_TIMEOUT, STORE_TIMEOUT, *TOOL_MISSING, *NOT_EXECUTABLE,
                 _python_error(ASKED_TO_STOP))
LIMIT_SILENT = _cause("time_limit", r"$^", ngettext_noop(
    "The log had not grown for %(minutes)d minute when the time limit came: the command "
    "waited.",
    "The log had not grown for %(minutes)d minutes when the time limit came: the "
    "command waited.", "minutes"),
    gettext_noop("See what the last lines wait for: another rank or node (HCCL), data, a "
                 "download, a port, a person's answer. Fix that; a longer limit alone does not "
                 "help."), FIELD)
LIMIT_UNDER_WAY = _cause("time_limit", r"$^", gettext_noop(
    "It had come to %(done)d of %(total)d when the time limit came."),
    gettext_noop("Use “Edit and run again” with a longer time limit or fewer steps; if the pace is "
                 "slower than it should be, look at the step times first."), FIELD)
LIMIT_OPEN = _cause("time_limit", r"$^", gettext_noop(
    "The log shows no known cause why the time limit was reached."),
    gettext_noop("Read the last lines: if the work went on, use “Edit and run again” with a "
                 "longer time limit; if it waited, fix what it waited for."), FIELD)
TIME_LIMIT = (LIMIT_SILENT, LIMIT_UNDER_WAY, LIMIT_OPEN)
