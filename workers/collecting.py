"""Brings a job's files from the node, with the checksums the node computed."""

import io
import tempfile
from fnmatch import fnmatch

from django.core.files import File

from workers import kinds, livelog, remote, ssh
from workers.artifacts import read_artifact, store_file
from workers.kinds import JobKind
from workers.models import Artifact, Job
from workers.readers.base import Reading
from workers.remote import quote
from workers.secrets import mask_secrets

MOST_FILES = 400
MOST_BYTES = 2 * 2**30
TEXT_SUFFIXES = (".txt", ".log", ".json", ".csv", ".yaml", ".yml", ".cfg", ".ini", ".sh", ".py")
LOG_NAME = "log.txt"


def collect(job: Job) -> None:
    """Store the log and every declared file that is not stored yet. Safe to repeat."""
    _store_log(job)
    have = set(job.artifacts.values_list("name", flat=True))
    for name, digest in _listed(job):
        if name not in have:
            _fetch(job, name, digest)


def _listed(job: Job) -> list[tuple[str, str]]:
    """(name, sha256) of the files the kind collects, in order of name."""
    patterns = kinds.get(job.kind).collect
    if not patterns:
        return []
    answer = ssh.run(job.node, remote.list_script(job.node.scratch_dir, job.directory_name), 600)
    found = []
    for line in answer.stdout.decode("utf-8", "replace").splitlines():
        digest, _space, name = line.partition("  ")
        if len(digest) == 64 and name.startswith("work/"):
            found.append((name.removeprefix("work/"), digest))
    chosen = [f for f in sorted(found) if any(fnmatch(f[0], p) for p in patterns)]
    return chosen[:MOST_FILES]


def _fetch(job: Job, name: str, node_digest: str) -> None:
    place = f"{job.directory_name}/work/{name}"
    scratch = job.node.scratch_dir
    base = scratch if scratch.startswith("/") else f"~/{scratch}"
    with tempfile.SpooledTemporaryFile(max_size=8 * 2**20) as file:
        size = 0

        def sink(chunk: bytes) -> None:
            nonlocal size
            size += len(chunk)
            if size > MOST_BYTES:
                raise ssh.Unreachable(f"{name} is larger than {MOST_BYTES} bytes")
            file.write(chunk)

        ssh.download(job.node, f"cat -- {quote(f'{base}/{place}')}", sink)
        _store(job, name, file, note=f"node sha256 {node_digest}")


def _store(job: Job, name: str, stream, note: str = "") -> Artifact:
    stream.seek(0)
    if name.endswith(TEXT_SUFFIXES):
        stream = _masked(stream)
    artifact = store_file(
        stream=stream, name=name, job=job, engagement=job.engagement, model=job.model,
        is_practice=job.is_practice)
    if note and not note.endswith(artifact.sha256):
        artifact.note = f"secrets masked; {note}"
        artifact.save(update_fields=["note"])
    return artifact


def _masked(stream):
    """The same bytes unless they hold something that looks like a secret."""
    data = stream.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return io.BytesIO(data)
    return io.BytesIO(mask_secrets(text).encode("utf-8"))


def _store_log(job: Job) -> None:
    path = livelog.path(job)
    if job.artifacts.filter(name=LOG_NAME).exists() or not path.exists():
        return
    with path.open("rb") as stream:
        store_file(stream=File(stream), name=LOG_NAME, job=job, engagement=job.engagement,
                   model=job.model, is_practice=job.is_practice)


def store_outputs(job: Job, outputs: dict[str, bytes]) -> None:
    """Store the files of a job that ran on the server."""
    for name, data in outputs.items():
        if not job.artifacts.filter(name=name).exists():
            _store(job, name, io.BytesIO(data))


def read_all(job: Job, kind: JobKind) -> dict[str, Reading]:
    """Readings of the job's artifacts by name; what no reader knows is left out."""
    readings = {}
    for artifact in job.artifacts.all():
        if artifact.name == LOG_NAME and not kind.reads_log:
            continue
        found = read_artifact(artifact)
        if found:
            readings[artifact.name] = found[0]
    return readings
