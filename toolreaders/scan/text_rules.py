"""Line patterns for files that are not Python, and for Python that does not parse."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from toolreaders.scan.findings import MAX_SNIPPET, Finding

MAX_LINE = 2_000
PYTHON = (
    ("cuda_call", re.compile(r"\.cuda\(|\btorch\.cuda\.|[\"']cuda(?::\d+)?[\"']")),
    ("nccl_logic", re.compile(r"[!=]=\s*[\"']nccl[\"']|[\"']nccl[\"']\s*[!=]=")),
    ("nccl_backend", re.compile(r"\bbackend\s*=\s*[\"']nccl[\"']|group\(\s*[\"']nccl[\"']")),
    ("apex", re.compile(r"^\s*(?:import|from)\s+(?:apex|amp_C)\b")),
    ("jit_script", re.compile(r"\btorch\.jit\.script\b")),
    ("channels_last", re.compile(r"\bchannels_last\b")),
    ("cuda_extension", re.compile(r"\bCUDAExtension\b")),
    ("unsupported_api", re.compile(r"\bnn\.DataParallel\b")),
    ("adaptor", re.compile(r"^\s*(?:import|from)\s+mindspeed(?:\.|\s+import\s+)megatron_adaptor")),
)
SETTINGS = (
    ("cuda_setting", re.compile(r"\bCUDA_VISIBLE_DEVICES\b|\bNCCL_[A-Z_]+|\bnvidia-smi\b|"
                                r"\bnvcc\b|\bdevice\s*[:=]\s*[\"']?cuda\b")),
    ("nccl_backend", re.compile(r"\bbackend\s*[:=\s]\s*[\"']?nccl\b")),
)
NATIVE = (
    ("cuda_extension", re.compile(r"#\s*include\s*[<\"](?:cuda|ATen/cuda|c10/cuda|THC)|"
                                  r"\bcudaStream_t\b|\bat::cuda::|\bAT_DISPATCH_.*cuda|"
                                  r"\.is_cuda\(\)|\bCHECK_CUDA\b")),
)
BY_SUFFIX = {
    **dict.fromkeys((".sh", ".bash", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".txt"), SETTINGS),
    **dict.fromkeys((".cpp", ".cc", ".c", ".h", ".hpp"), NATIVE), ".py": PYTHON,
}


def scan_lines(file: str, text: str) -> Iterator[Finding]:
    """Findings of one file by line patterns; comments count only where they share a line."""
    suffix = PurePosixPath(file).suffix.lower()
    if suffix in (".cu", ".cuh"):
        yield Finding(file, 1, "cuda_kernel", text.split("\n", 1)[0].strip()[:MAX_SNIPPET])
        return
    for number, line in enumerate(text.split("\n"), 1):
        bounded = line[:MAX_LINE]
        if bounded.lstrip().startswith(("# ", "//")):
            continue
        for check, pattern in BY_SUFFIX.get(suffix, ()):
            if pattern.search(bounded):
                yield Finding(file, number, check, bounded.strip()[:MAX_SNIPPET])
