"""What writer and verifier of a bundle agree on: names of files, and copies of the snapshot."""

import re
from pathlib import PurePosixPath

WITHHELD = "WITHHELD"  # in the form of SHA256SUMS: raw files that are not in the bundle


def scan_name(name: str, sha256: str) -> str:
    """scans/<first digits of the checksum>-<file name in plain letters>."""
    return f"scans/{plain_name(name, sha256)}"


def cited_name(name: str) -> str:
    """cited/<file name>: of a document that the bundle's own document refers to."""
    return f"cited/{name}"


def snapshot_parts(snapshot: dict) -> dict[str, list | dict]:
    """The files by name: what was measured by which rule, on what set-ups, by which runs; every
    run of each criterion, what people accepted for the verdicts, what was read of the judged
    runs' nodes, and the answers of the survey that are cited."""
    return {"definitions.json": snapshot["definitions"], "jobs.json": snapshot["runs"],
            "environment.json": snapshot["tables"].get("environments", {}),
            "runs.json": snapshot.get("criterion_runs", []),
            "accepted.json": snapshot.get("accepted", []),
            "nodes.json": snapshot.get("nodes", []),
            "survey.json": snapshot.get("survey_answers", [])}


def raw_name(name: str, sha256: str) -> str:
    """raw/<first digits of the checksum>-<file name in plain letters>."""
    return f"raw/{plain_name(name, sha256)}"


def plain_name(name: str, sha256: str) -> str:
    """The name in plain letters behind the first digits of the checksum."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", PurePosixPath(name.replace("\\", "/")).name)
    return f"{sha256[:16]}-{plain.strip('._-')[-80:] or 'file'}"
