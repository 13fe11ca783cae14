"""Volumes of pods, one per line: what is mounted, and where inside."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

KINDS = {"pvc": 2, "host": 2, "nfs": 3}  # how many parts a line has before `:ro`


@dataclass(frozen=True)
class Volume:
    """One mount. `source` is what Kubernetes calls it, by the name of its field."""

    path: str
    source: dict
    is_read_only: bool


def parsed(text: str) -> list[Volume]:
    """The volumes of the lines. Raises ValueError with a sentence that quotes the line."""
    return [_volume(line.strip()) for line in text.splitlines() if line.strip()]


def _volume(line: str) -> Volume:
    kind, *parts = line.split(":")
    is_read_only = parts[-1:] == ["ro"]
    parts = parts[:-1] if is_read_only else parts
    path = parts[-1] if parts else ""
    is_path = path.startswith("/") and ".." not in path.split("/") and path.isprintable()
    if len(parts) != KINDS.get(kind) or not is_path or not all(parts):
        raise ValueError(_("“%(line)s” is not a volume; a line reads pvc:CLAIM:/inside, "
                           "nfs:SERVER:/export:/inside or host:/on/nodes:/inside, and :ro after "
                           "it where it is only read.") % {"line": line})
    *source, path = parts
    sources = {"pvc": lambda claim: {"persistentVolumeClaim": {"claimName": claim}},
               "host": lambda folder: {"hostPath": {"path": folder}},
               "nfs": lambda server, export: {"nfs": {"server": server, "path": export}}}
    return Volume(path, sources[kind](*source), is_read_only)


def holding(volumes: list[Volume], folder: str) -> Volume | None:
    """The writable volume below which the folder lies; None where there is none."""
    return next((volume for volume in volumes if not volume.is_read_only
                 and f"{folder}/".startswith(volume.path.rstrip("/") + "/")), None)
