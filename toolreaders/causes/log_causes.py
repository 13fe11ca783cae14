"""Why jobs fail: what a log shows, what that means, what to do next, and who says so.

The order is that of `CAUSES`: what comes first explains what comes later. Named groups of a pattern
fill the placeholders of the sentences.
"""

from __future__ import annotations

import re
from typing import Any

from toolreaders.causes.cause import CLUSTER, ENVIRONMENT, HARDWARE, SCRIPT, Cause
from toolreaders.sentences import gettext_noop

SHELL = "POSIX.1-2017, Shell Command Language, 2.8.2 Exit Status for Commands"
PYTHON = "https://docs.python.org/3/library/exceptions.html"
ELASTIC = "https://docs.pytorch.org/docs/stable/elastic/errors.html"
MEMORY = "https://docs.kernel.org/admin-guide/mm/concepts.html#oom-killer"
TORCH_NPU = "https://github.com/Ascend/pytorch"
MEGATRON = "https://github.com/NVIDIA/Megatron-LM"
CUDA_MEMORY = "https://docs.pytorch.org/docs/stable/notes/cuda.html"
CUDA_ERRORS = "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html"
NCCL = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html"
XID = "https://docs.nvidia.com/deploy/xid-errors/index.html"
SLURM = "https://slurm.schedmd.com/scancel.html"
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
FAULTS = {
    "card_alarm": HARDWARE, "xid": HARDWARE, "checkpoint_missing": SCRIPT, "cuda_only": SCRIPT,
    "device_assert": SCRIPT, "device_memory": SCRIPT, "illegal_access": SCRIPT, "killed": "",
    "loss_scale": SCRIPT,
    "python_error": SCRIPT, "hccl_timeout": CLUSTER, "nccl_broken": CLUSTER,
    "nccl_timeout": CLUSTER, "rank_missing": CLUSTER, "cancelled": "",
}
"""The class of fault of a code; what is not named here is of the environment."""


def _cause(code: str, pattern: str, headline: str, remedy: str, source: str, **more: Any) -> Cause:
    return Cause(code, re.compile(pattern, re.MULTILINE), headline, remedy, source,
                 FAULTS.get(code, ENVIRONMENT), **more)


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
GPU_MEMORY = gettext_noop(
    "Lower the batch or the sequence length, recompute activations, or spread the model over more "
    "GPUs. If nvidia-smi shows memory in use before the start, end what holds it.")
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
           r"^.*(?:NPU out of memory|Heap_alloc_managed out of memory).*$",
           gettext_noop("The memory of an NPU was not enough."),
           gettext_noop("Lower the batch or the sequence length, or spread the model over more "
                        "cards. If npu-smi shows memory in use before the start, end what holds "
                        "it."), DRIVER_CODES, codes="device_memory"),
    _cause("device_memory",
           r"^.*(?:CUDA|HIP) out of memory\. Tried to allocate (?P<wanted>[\d.]+ \w+)[.,]? \(?GPU "
           r"(?P<card>\d+)(?: has a total capacity of |; )(?P<total>[\d.]+ \w+).*$",
           gettext_noop("GPU %(card)s ran out of memory: %(wanted)s more were wanted, it has "
                        "%(total)s in all."),
           GPU_MEMORY, CUDA_MEMORY),
    _cause("device_memory",
           r"^.*(?:CUDA out of memory|CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|"
           r"HIP out of memory|cudaErrorMemoryAllocation|Cuda failure (?:\d+ )?'out of memory').*$",
           gettext_noop("The memory of a GPU was not enough; the log does not say by how much."),
           GPU_MEMORY, CUDA_MEMORY),
)
HOST_MEMORY = _cause(
    "host_memory", r"^.*(?:^MemoryError\b|: MemoryError\b|Cannot allocate memory|std::bad_alloc|"
    r"DefaultCPUAllocator: (?:can't|not enough).*memory|Out of memory: Killed process|oom-kill).*$",
    gettext_noop("The main memory of the node was not enough."),
    gettext_noop("Use fewer data loader processes or ranks per node, load the weights in parts, "
                 "or end what else uses the memory (free -g)."), MEMORY, codes="host_memory")
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
FILE_MISSING = tuple(_cause(
    "file_missing", pattern,
    gettext_noop("The file or folder %(path)s does not exist on the node."),
    gettext_noop("Correct the path with “Edit and run again”, or copy the file to the node."),
    source) for pattern, source in (
        (START + r"FileNotFoundError: \[Errno 2\].*?'(?P<path>[^'\n]+)'.*$", PYTHON),
        (r"(?i)^.*\berror\b[^\n]*?[\s'\"](?P<path>~?/[^\s'\",:]+)['\"]? (?:does not exist|is not a "
         r"directory)\b.*$", FIELD)))
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
    "card_busy", r"^.*(?:because the device is used|ret is -8020|Resource_Busy).*$",
    gettext_noop("A card is in use by another process or container."),
    gettext_noop("npu-smi info lists the processes on the cards; end what does not belong there, "
                 "and give a container its cards for itself."), DRIVER_CODES, codes="card_busy")
CARD_ALARM = _cause(
    "card_alarm", r"^.*(?:(?:HBM|multi)[ -]?bit ECC).*$",
    gettext_noop("A card is faulty or absent."),
    gettext_noop("Look at npu-smi info -t health of the card and at the node's event log; put the "
                 "node in maintenance and report the card."), DRIVER_CODES, codes="card_alarm")
NO_DRIVER = (
    _cause("no_driver", r"^.*dcmi mod(?:ule|el) initializ\w* failed.*?ret is (?P<ret>-\d+).*$",
           gettext_noop("The NPU driver does not answer (DCMI returned %(ret)s)."),
           gettext_noop("Check that driver and firmware are installed and loaded, that the user "
                        "belongs to the driver's group, and that no other container holds the "
                        "devices."), DCMI),
    _cause("no_npu", r"(?i)^.*(?:can ?not find (?:any )?(?:npu|davinci)|"
           r"no npu devices? (?:is |are )?(?:found|available)|there is no npu "
           r"(?:card|chip)).*$",
           gettext_noop("No NPU was found for the job."),
           gettext_noop("Check with npu-smi info that the card exists, that "
                        "ASCEND_RT_VISIBLE_DEVICES names cards of this node, and that a container "
                        "got /dev/davinci*."),
           TORCH_NPU, codes="no_npu"),
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
           r"\bus(?:ed|ing) by other process.*$",
           HCCL_CANNOT_LISTEN, HCCL_PORTS, ERRNO),
    _cause("port_in_use", r"^.*failed to listen.*?port: (?P<port>\d+).*(?:EADDRINUSE|in use).*$",
           gettext_noop("Port %(port)s is in use on the node."),
           gettext_noop("End the earlier run that holds it (ss -ltnp), or choose another "
                        "--master_port."), ERRNO),
    _cause("port_in_use", r"^.*(?:EADDRINUSE|Address already in use|"
           r"\b(?:have|has) been bound already).*$",
           gettext_noop("A network port that the job needs is in use on the node."),
           gettext_noop("End the earlier run that holds it (ss -ltnp), or choose another port."),
           ERRNO, codes="port_in_use"),
)
ILLEGAL_ACCESS = _cause(
    "illegal_access", r"^.*(?:an illegal memory access was encountered|CUDA_ERROR_ILLEGAL_ADDRESS|"
    r"cudaErrorIllegalAddress).*$",
    gettext_noop("A kernel on the GPU read or wrote outside its memory."),
    gettext_noop("The line that reports it is often not the one that caused it: run again with "
                 "CUDA_LAUNCH_BLOCKING=1, or under compute-sanitizer, and check the indices and "
                 "shapes of that call."), CUDA_ERRORS)
DEVICE_ASSERT = _cause(
    "device_assert", r"^.*(?:device-side assert triggered|cudaErrorAssert).*$",
    gettext_noop("A check inside a kernel on the GPU failed."),
    gettext_noop("Mostly an index is out of range: a label above the number of classes, a token "
                 "above the vocabulary. Run again with CUDA_LAUNCH_BLOCKING=1; the traceback then "
                 "names the call."), CUDA_ERRORS)
LOSS_SCALE = _cause(
    "loss_scale", r"^.*\bloss scale already at minimum\b.*$",
    gettext_noop("The loss scale fell to its minimum: the gradients overflowed at every step."),
    gettext_noop("Compare the first steps with the baseline: data, learning rate, an operator that "
                 "overflows in half precision; or train in bf16."),
    "https://www.deepspeed.ai/docs/config-json/#fp16-training-options")
GPU_FAULT = _cause(
    "xid", r"^.*\bXid \((?P<device>PCI:[^)\s]+)\): (?P<xid>\d+)[,:]? *(?P<text>[^\n]{0,200}).*$",
    gettext_noop("The driver of the GPU at %(device)s reports Xid %(xid)s: %(text)s"),
    gettext_noop("NVIDIA's list of Xid codes says whether program, driver or card is at fault; 48, "
                 "63, 64, 74, 79, 94 and 95 are of the card or its links: take "
                 "the node out of use and report it."), XID)
OPERATOR_PATH = _cause(
    "operator_path", r"^.*ASCEND_OPP_PATH\b[^\n]{0,40}\b(?:is|was) not set\b.*$",
    gettext_noop("ASCEND_OPP_PATH is not set: the environment script of CANN was not sourced, or "
                 "its operator package (OPP) is not installed."),
    gettext_noop("Name set_env.sh of the CANN installation in the job's runtime; if the variable "
                 "is still not set, install the operator package of the same version."),
    TORCH_NPU, codes="operator_path")
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
    "hcclug_000050.html", waits=True)
FIND_RANK = gettext_noop(
    "Find the rank that stopped first or is still busy: its own error stands earlier, or it is "
    "missing from the log. If it prepares data (tokenising, a checkpoint), do that once before, or "
    "raise the time limit (ddp_timeout, timeout of init_process_group).")
NCCL_TIMEOUT = (
    _cause("nccl_timeout", r"^.*\bWatchdog caught collective operation timeout: WorkNCCL\([^\n]*?"
           r"OpType=(?P<operation>\w+)[^\n]*?Timeout\(ms\)=(?P<seconds>\d+)\d{3}\b.*$",
           gettext_noop("A collective operation of NCCL (%(operation)s) timed out after "
                        "%(seconds)s s: a rank waited in vain for another."),
           FIND_RANK, NCCL, waits=True),
    _cause("nccl_timeout", r"^.*(?:Timeout at NCCL work|Some NCCL operations have failed or timed "
           r"out|Watchdog caught collective operation timeout).*$",
           gettext_noop("The ranks waited for each other in vain (NCCL time-out)."), FIND_RANK,
           NCCL, waits=True),
)
NCCL_BROKEN = _cause(
    "nccl_broken",
    r"^.*(?:ncclRemoteError|ncclSystemError|NCCL[^\n]{0,80}remote process exited|"
    r"\bstore->get\('[^']*'\) got error: Connection (?:reset|closed)).*$",
    gettext_noop("NCCL lost its connection to another rank: that rank ended, or the network "
                 "failed."),
    gettext_noop("Find the rank that ended first: its own error stands earlier. If none did, run "
                 "again with NCCL_DEBUG=INFO and check NCCL_SOCKET_IFNAME and the links."), NCCL,
    waits=True)
STORE_TIMEOUT = _cause(
    "rank_missing",
    START + r".*(?:\bstore->get\('[^']*'\) got error: (?:Socket Timeout|wait timeout)|"
    r"\bwait timeout after \d+ ?ms, keys:|\bclient socket has timed out after \d+|"
    r"\bTimed out waiting \d+ ?ms for (?:recv|send)\b).*$",
    gettext_noop("A rank waited longer than its time limit for another one, which had not come to "
                 "the same place yet: it was still preparing data, for example."),
    gettext_noop("Prepare the data (tokenising, a cache) once before the training, or raise the "
                 "script's time limit (ddp_timeout, timeout of init_process_group). If the other "
                 "rank stopped, its own error stands earlier."), ELASTIC, waits=True)
CANCELLED = (
    _cause("cancelled", r"^slurmstepd: error: \*{3} \w+ \S+ ON \S+ CANCELLED AT (?P<time>\S+) DUE "
           r"TO (?P<why>[^*\n]+?) \*{3}.*$",
           gettext_noop("Slurm ended it at %(time)s: %(why)s."),
           gettext_noop("Ask for more of what ran out (time, memory), or lower what the job "
                        "needs."), SLURM),
    _cause("cancelled", r"^slurmstepd: error: \*{3} \w+ \S+ ON \S+ CANCELLED AT (?P<time>\S+) "
           r"\*{3}.*$",
           gettext_noop("It was cancelled by Slurm at %(time)s (SIGTERM): a person or a rule of "
                        "the cluster ended it."),
           gettext_noop("The administrator of the cluster knows who did; the run itself shows no "
                        "fault."), SLURM),
)
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


def python_error(ahead: str = "") -> Cause:
    return _cause(
        "python_error", START + r"(?!torch\.distributed\.elastic)" + ahead + PYTHON_LINE,
        gettext_noop("The Python program ended with %(type)s: %(text)s"),
        gettext_noop("The traceback above that line names file and line; correct the script or its "
                     "parameters, then use “Edit and run again”."), PYTHON, is_last=True)


PYTHON_ERROR = python_error()
CAUSES = (SHARED_MEMORY, DISK_FULL, *DEVICE_MEMORY, HOST_MEMORY, CUDA_ONLY, OPERATOR_PATH,
          LIBRARY_MISSING, *MODULE_MISSING, *SCRIPT_MISSING, *CHECKPOINT_MISSING, *FILE_MISSING,
          NO_PERMISSION, CARD_BUSY, CARD_ALARM, GPU_FAULT, ILLEGAL_ACCESS, DEVICE_ASSERT,
          LOSS_SCALE, *NO_DRIVER, LICENCE, *PORT_IN_USE, RANK_MISSING)
"""What explains itself, before the codes of CANN."""
WAITING = (*NCCL_TIMEOUT, HCCL_TIMEOUT, STORE_TIMEOUT, NCCL_BROKEN)
"""What a rank says of another one, after what a rank says of itself."""
# Of a job that its time limit ended: that it was stopped says the job itself.
WHILE_RUNNING = (*TOOL_MISSING, *NOT_EXECUTABLE, python_error(ASKED_TO_STOP))
SYMPTOMS = (*TOOL_MISSING, *NOT_EXECUTABLE, *CANCELLED, *KILLED, PYTHON_ERROR)
