"""Kubernetes' states and reasons in sentences for people.

Reasons: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/,
https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/,
https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions
"""

from django.utils.translation import gettext_noop

from engagements.text.nested_sentences import nested
from workers.models import JobState
from workers.remote.scheduled import Scheduled

WAITING = gettext_noop("Waiting in Kubernetes: %(why)s")
NO_IMAGE = gettext_noop(
    "the image cannot be pulled (%(reason)s): %(detail)s Kubernetes keeps retrying; cancel the "
    "job and correct the image's name, the registry or the pull secret.")
NOT_MADE = gettext_noop(
    "its container cannot be created (%(reason)s): %(detail)s It will not start like this.")
REASONS = {
    "Unschedulable": gettext_noop(
        "no node of the cluster can take it now (Unschedulable): %(detail)s"),
    "SchedulingGated": gettext_noop("its scheduling is gated (SchedulingGated): %(detail)s"),
    "ImagePullBackOff": NO_IMAGE, "ErrImagePull": NO_IMAGE, "InvalidImageName": NO_IMAGE,
    "ErrImageNeverPull": NO_IMAGE, "RegistryUnavailable": NO_IMAGE,
    "CreateContainerConfigError": NOT_MADE, "CreateContainerError": NOT_MADE,
    "RunContainerError": NOT_MADE, "CrashLoopBackOff": NOT_MADE,
    "ContainerCreating": gettext_noop(
        "its container is being created: the image is pulled, volumes are mounted. %(detail)s"),
    "PodInitializing": gettext_noop("its pod is being prepared. %(detail)s"),
    "": gettext_noop("its pod has not been created yet. %(detail)s"),
}
OTHER_REASON = gettext_noop("Kubernetes gives the reason “%(reason)s”. %(detail)s")


def is_waiting(scheduled: Scheduled) -> bool:
    """Whether the cluster has the job and no container of it runs yet."""
    return not scheduled.has_begun and scheduled.state in ("Pending", "Inqueue", "Suspended")


def waiting(scheduled: Scheduled) -> tuple[str, dict]:
    """Message and values for a job whose pod waits."""
    message = REASONS.get(scheduled.reason, OTHER_REASON)
    return WAITING, {"why": nested(message, {"reason": scheduled.reason,
                                             "detail": scheduled.detail})}


def is_over(scheduled: Scheduled) -> bool:
    """Whether no container of it runs or may start any more."""
    return bool(scheduled.state) and not scheduled.is_live


def ended_itself(scheduled: Scheduled) -> bool:
    """Whether the container ended by itself."""
    return not scheduled.reason and not scheduled.disruption and scheduled.state in (
        "Complete", "Failed", "Succeeded", "Terminated")


NODE_LOST = (JobState.LOST, gettext_noop(
    "The compute node was lost while it ran (%(nodes)s, %(reason)s): %(detail)s"))
# How Kubernetes ended a job whose command did not end by itself: state of the job, sentence.
ENDINGS = {
    "OOMKilled": (JobState.FAILED, gettext_noop(
        "Its container took more memory than it was given, and the kernel ended it (OOMKilled, on "
        "%(nodes)s). Give pods of this cluster more memory, or use less.")),
    "Evicted": (JobState.FAILED, gettext_noop(
        "The compute node evicted it (%(nodes)s, Evicted): %(detail)s")),
    "TerminationByKubelet": (JobState.FAILED, gettext_noop(
        "The compute node ended it (%(nodes)s, TerminationByKubelet): %(detail)s")),
    "EvictionByEvictionAPI": (JobState.FAILED, gettext_noop(
        "Somebody drained the compute node or evicted the pod (%(nodes)s, "
        "EvictionByEvictionAPI).")),
    "PreemptionByScheduler": (JobState.FAILED, gettext_noop(
        "Kubernetes ended it for a pod of higher priority (%(nodes)s, PreemptionByScheduler).")),
    "Preempting": (JobState.FAILED, gettext_noop(
        "The compute node ended it for a pod that the node needs (%(nodes)s, Preempting).")),
    "DeadlineExceeded": (JobState.TIMED_OUT, gettext_noop(
        "Kubernetes ended it at the pod's time limit (DeadlineExceeded).")),
    "NodeLost": NODE_LOST, "DeletionByTaintManager": NODE_LOST, "DeletionByPodGC": NODE_LOST,
    "NodeShutdown": NODE_LOST, "Shutdown": NODE_LOST, "NodeAffinity": NODE_LOST,
    "UnexpectedAdmissionError": (JobState.FAILED, gettext_noop(
        "The compute node did not admit it (%(nodes)s, UnexpectedAdmissionError): %(detail)s The "
        "cards it was promised may be faulty.")),
    "ContainerCannotRun": (JobState.FAILED, gettext_noop(
        "The image cannot begin: %(output)s It needs a POSIX shell named sh.")),
    "StartError": (JobState.FAILED, gettext_noop(
        "The image cannot begin: %(output)s It needs a POSIX shell named sh.")),
}
NOT_SHARED = gettext_noop(
    "Kubernetes ran it on %(nodes)s, but its container did not begin in the job's folder (exit "
    "code %(exit)s): the scratch folder must lie on a volume that pods and the log-in node share, "
    "under one path, writable for the user inside. %(output)s")
KILLED = gettext_noop(
    "Its container ended without leaving an exit status (on %(nodes)s, exit code %(exit)s, "
    "%(reason)s): it was killed from outside.")
STARTED_AGAIN = gettext_noop(
    "Its first container ended without an exit status, and the cluster started another one (on "
    "%(nodes)s); the desk runs a command once.")
DELETED = gettext_noop(
    "Kubernetes does not know the job any more, and it left no exit status: it was deleted there, "
    "not through the desk.")


def ended(scheduled: Scheduled) -> tuple[str, str, dict]:
    """State, message and values for a job that left no exit status and runs no more."""
    values = {"nodes": scheduled.nodes or "–", "exit": scheduled.exit_code or "–",
              "reason": scheduled.reason or scheduled.disruption or scheduled.state or "–",
              "detail": scheduled.detail, "output": scheduled.output}
    if found := ENDINGS.get(scheduled.reason) or ENDINGS.get(scheduled.disruption):
        return *found, values
    if not scheduled.state or scheduled.state == "Terminating":
        return JobState.LOST, DELETED, values
    if not scheduled.has_begun:
        return JobState.FAILED, NOT_SHARED, values
    if scheduled.exit_code in ("0", ""):
        return JobState.LOST, STARTED_AGAIN, values
    return JobState.LOST, KILLED, values


def overrides(scheduled: Scheduled) -> tuple[str, str, dict] | None:
    """The same for a job that left an exit status, where Kubernetes knows a truer cause."""
    known = scheduled.reason in ENDINGS or scheduled.disruption in ENDINGS
    return ended(scheduled) if known else None
