"""Parts of the frozen facts that a bundle also holds as files of their own."""


def snapshot_parts(snapshot: dict) -> dict[str, list | dict]:
    """The files by name: what was measured by which rule, on what set-ups, by which runs."""
    return {"definitions.json": snapshot["definitions"], "jobs.json": snapshot["runs"],
            "environment.json": snapshot["tables"].get("environments", {})}
