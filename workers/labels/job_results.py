"""What scheduler, container engine and node reported of a job, in words for its page."""

import json
from datetime import UTC, datetime

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engagements.text.text_joining import following
from workers.models import Job

OF_CONTAINER: dict[str, Promise] = {
    "image": gettext_lazy("Image"), "digests": gettext_lazy("Digests of the image"),
    "labels": gettext_lazy("Labels of the image"),
    "container": gettext_lazy("Number of the container"),
    "engine": gettext_lazy("Container engine"),
    "oom_killed": gettext_lazy("Ended for want of memory")}
EMPTY = ("", "null", "[]", "{}", "false")
MOST_NAMED = 5


def scheduler_facts(job: Job, why_another_state: str = "") -> list[tuple[str, str]]:
    """Names and values of what a cluster's scheduler reported; empty for a job of a plain node."""
    result = job.results.get("scheduler")
    if not result:
        return []
    name = {"name": job.node.get_scheduler_display() if job.node else ""}
    reason = f" ({result['reason']})" if result.get("reason") else ""
    state = following(f"{result.get('state', '')}{reason}".strip(), why_another_state)
    rows = [(_("%(name)s: job") % name, result.get("job_id", "")),
            (_("%(name)s: state") % name, state),
            (_("%(name)s says") % name, result.get("detail", "")),
            (_("Compute nodes"), result.get("nodes", "")),
            (_("Image"), result.get("image", "")),
            (_("Cards named by"), result.get("cards_source", "")),
            (_("%(name)s: exit code") % name, result.get("exit_code", "")),
            (_("%(name)s: accounting") % name, _accounting(result))]
    return [row for row in rows if row[1]]


def _accounting(result: dict) -> str:
    record = result.get("accounting")
    if record:
        return _("%(seconds)s s, %(given)s") % {"seconds": record.get("seconds", "–"),
                                                "given": record.get("given") or "–"}
    error = result.get("accounting_error", "")
    return _("not available (%(why)s)") % {"why": error} if error else ""


def expected_start(job: Job) -> datetime | None:
    """When the scheduler foresees the start of a job that waits; None where it does not."""
    seconds = job.results.get("scheduler", {}).get("expected_start")
    return datetime.fromtimestamp(seconds, UTC) if seconds and not job.started_at else None


def container_facts(job: Job) -> list[tuple[Promise, str]]:
    """Label and value of what a container's engine reported; nothing for a job without one."""
    result = job.results.get("container", {})
    return [(label, _listed(result[name])) for name, label in OF_CONTAINER.items()
            if result.get(name, "") not in EMPTY]


def _listed(value: str) -> str:
    """What an engine printed as JSON, as a list for people; other text as it is."""
    if not value.startswith(("[", "{")):
        return value
    try:
        found = json.loads(value)
    except ValueError:
        return value
    words = [f"{name}={text}" for name, text in found.items()] if isinstance(found, dict) else found
    return ", ".join(map(str, words))


def left_behind(results: dict) -> list[str]:
    """Sentences on the processes that outlived the command: there, ended, or on its cards."""
    found = []
    still = results.get("still_running", [])
    if still:
        found.append(_("%(n)d processes that the command left behind survive SIGKILL: %(which)s. "
                       "An administrator has to end them on the node.")
                     % {"n": len(still), "which": _named(still)})
    ended = [each for each in results.get("left_behind", []) if each not in still]
    if ended:
        found.append(_("The command left %(n)d processes behind when it ended; they were ended: "
                       "%(which)s.") % {"n": len(ended), "which": _named(ended)})
    if on_cards := results.get("on_cards"):
        found.append(_("After the command had ended npu-smi still showed %(n)d processes on its "
                       "cards: %(which)s.") % {"n": len(on_cards), "which": _named(on_cards)})
    return found


WHY_LEFT: dict[str, Promise] = {
    "link": gettext_lazy("a symbolic link"), "pipe": gettext_lazy("a named pipe"),
    "hardlink": gettext_lazy("a file with more than one hard link"),
    "device": gettext_lazy("a device"), "socket": gettext_lazy("a socket"),
    "limit": gettext_lazy("beyond the limit of files and bytes of one job")}


def not_collected(results: dict, collected: int) -> str:
    """The declared files that are not stored, and why; empty if all are.

    Args:
        collected: how many are.
    """
    if not (found := results.get("not_collected")):
        return ""
    named = "; ".join(f"{name}{f' ({owner} {mode})' if owner else ''}: {WHY_LEFT.get(why, why)}"
                      for name, owner, mode, why in found["files"][:MOST_NAMED])
    sentence = _("Collected %(collected)d files, left out %(n)d: %(which)s.") % {
        "collected": collected, "n": found["n"], "which": named}
    if any(owner for _name, owner, _mode, _why in found["files"]):
        sentence = following(sentence, _(
            "Those that could not be read: if they are needed, have their owner or an "
            "administrator let the log-in user read them, and run the job again."))
    return following(sentence, _("The list is in not-collected.txt."))


def _named(processes: list) -> str:
    return ", ".join(f"{number} ({name})" for number, name in processes)
