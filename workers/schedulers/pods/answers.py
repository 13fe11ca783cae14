"""What Kubernetes' objects say of a job, as one `Scheduled`.

Phases, reasons and conditions of pods:
https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/ and
https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions
"""

from datetime import datetime
from typing import Any

from workers.remote.scheduled import Scheduled
from workers.schedulers.pods.manifests import CONTAINER

ENDED = ("Succeeded", "Failed")
STARTING = ("ContainerCreating", "PodInitializing", "")
MOST_OUTPUT = 1500
# Of Jobs: they say no more than that a pod ended.
UNTELLING = ("BackoffLimitExceeded", "CompletionsReached", "PodFailed", "TaskCompleted")


def job_of(found: dict[str, Any] | None, pods: list[dict[str, Any]],
           warnings: dict[str, str] | None = None) -> Scheduled:
    """A Job of batch/v1, None where there is none any more.

    Args:
        warnings: newest event of each pod that is being made, by the pod's name.
    """
    if found is None and not pods:
        return Scheduled()
    conditions = _conditions((found or {}).get("status", {}))
    over = next((kind for kind in ("Complete", "Failed") if kind in conditions), "")
    state = "Terminating" if (found or {"metadata": {"deletionTimestamp": 1}})["metadata"].get(
        "deletionTimestamp") else over
    condition = conditions.get(over, {})
    return _joined(found, pods, state, condition.get("reason", ""), condition.get("message", ""),
                   is_over=bool(over), warnings=warnings or {})


VOLCANO_OVER = ("Completed", "Failed", "Terminated", "Aborted")


def volcano_of(found: dict[str, Any] | None, pods: list[dict[str, Any]],
               group: dict[str, Any] | None = None, warnings: dict[str, str] | None = None
               ) -> Scheduled:
    """A Job of Volcano; `group` is its PodGroup, which knows why no pod is made yet."""
    if found is None and not pods:
        return Scheduled()
    container_state = (found or {}).get("status", {}).get("state", {})
    phase = container_state.get("phase", "") or "Pending"
    is_over = phase in VOLCANO_OVER
    reason, message = container_state.get("reason", ""), container_state.get("message", "")
    unscheduled = _conditions((group or {}).get("status", {})).get("Unschedulable", {})
    if not pods and unscheduled:
        reason, message = "Unschedulable", unscheduled.get("message", "")
    state = "Terminating" if found is None or found["metadata"].get("deletionTimestamp") \
        else {"Completed": "Complete", "Pending": "", "Running": ""}.get(phase, phase)
    return _joined(found, pods, state, reason, message, is_over=is_over, warnings=warnings or {})


def _joined(found, pods, state: str, reason: str, message: str, is_over: bool,
            warnings: dict[str, str]) -> Scheduled:
    first = _telling(pods)
    reported = _pod(first, warnings) if first else {"state": "Pending", "reason": "", "detail": ""}
    is_live = any(_phase(pod) not in ENDED for pod in pods) or (
        found is not None and not is_over and not pods)
    if state:
        reported["state"] = state
    reported["reason"] = reported["reason"] or ("" if reason in UNTELLING else reason)
    reported["detail"] = reported["detail"] or message
    nodes = {pod.get("spec", {}).get("nodeName", "") for pod in pods} - {""}
    return Scheduled(**reported, nodes=",".join(sorted(nodes)), is_live=is_live,
                     job_id=found["metadata"]["uid"] if found else "")


def _telling(pods: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The pod that tells most: one that failed, then one that is not running, then the first."""
    order = {"Failed": 0, "Unknown": 1, "Pending": 2, "Running": 3, "Succeeded": 4}
    return min(pods, key=lambda pod: (order.get(_phase(pod), 5), pod["metadata"]["name"]),
               default=None)


def _phase(pod: dict[str, Any]) -> str:
    return pod.get("status", {}).get("phase", "")


def _pod(pod: dict[str, Any], warnings: dict[str, str]) -> dict[str, Any]:
    status, phase = pod.get("status", {}), _phase(pod)
    container = next((each for each in status.get("containerStatuses", [])
                      if each.get("name") == CONTAINER), {})
    ended = container.get("state", {}).get("terminated", {})
    disrupted = _conditions(status).get("DisruptionTarget", {})
    facts = {"state": phase, "reason": status.get("reason", ""),
             "detail": status.get("message", ""), "image": container.get("imageID", ""),
             "disruption": disrupted.get("reason", "")}
    if phase == "Pending":
        facts |= _why_pending(pod, container, warnings)
    if ended:
        facts |= _how_ended(pod, facts, ended)
    if disrupted and not facts["reason"]:
        facts |= {"reason": disrupted["reason"], "detail": disrupted.get("message", "")}
    return facts


def _why_pending(pod: dict[str, Any], container: dict[str, Any], warnings: dict[str, str]
                 ) -> dict[str, str]:
    waiting = container.get("state", {}).get("waiting", {})
    conditions = pod.get("status", {}).get("conditions", [])
    placed = next((each for each in conditions if each["type"] == "PodScheduled"), {})
    if placed.get("status") == "False":
        return {"reason": placed.get("reason", ""), "detail": placed.get("message", "")}
    reason, message = waiting.get("reason", ""), waiting.get("message", "")
    if reason in STARTING and (warning := warnings.get(pod["metadata"]["name"])):
        return {"reason": reason or "ContainerCreating", "detail": warning}
    return {"reason": reason, "detail": message}


def _how_ended(pod: dict[str, Any], facts: dict[str, str], ended: dict[str, Any]
               ) -> dict[str, Any]:
    why = "" if ended.get("reason") in ("Completed", "Error") else ended.get("reason", "")
    limits = next((each.get("resources", {}).get("limits", {})
                   for each in pod.get("spec", {}).get("containers", [])), {})
    given = ",".join(f"{name}={amount}" for name, amount in sorted(limits.items()))
    return {"reason": facts["reason"] or why, "exit_code": str(ended.get("exitCode", "")),
            "output": ended.get("message", "")[-MOST_OUTPUT:],
            "accounting": {"state": facts["state"], "seconds": _seconds(ended), "given": given}}


def _seconds(ended: dict[str, Any]) -> str:
    try:
        begun, over = (datetime.fromisoformat(ended[name]) for name in ("startedAt", "finishedAt"))
    except (KeyError, TypeError, ValueError):
        return "–"
    return str(round((over - begun).total_seconds()))


def _conditions(status: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Those that hold, by their type."""
    return {each["type"]: each for each in status.get("conditions") or []
            if each.get("status") == "True"}


def shown(pod: dict[str, Any]) -> str:
    """A pod that is still there, in a few words."""
    node = pod.get("spec", {}).get("nodeName", "")
    name, phase = pod["metadata"]["name"], _phase(pod)
    leaving = ", Terminating" if pod["metadata"].get("deletionTimestamp") else ""
    return f"{name} {phase}{leaving}" + (f" {node}" if node else "")
