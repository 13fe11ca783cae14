"""What a job is in Kubernetes: a Job of batch/v1, or one of Volcano.

Fields: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/job-v1/ and
https://volcano.sh/en/docs/v1-9-0/vcjob/
"""

from typing import Any

from workers.models import Job, RuntimePlace
from workers.schedulers.pods import chips, volumes
from workers.schedulers.pods.pod_options import pairs, tolerations
from workers.schedulers.shared_folder import batch_command, seconds_at_most

MANAGED = {"app.kubernetes.io/managed-by": "delivery-desk"}
JOB_LABEL = "delivery-desk/job"
GRACE_SECONDS = 30  # between TERM and KILL, where nobody asks for less
KEEP_HOURS = 24
TASK = "node"  # of Volcano; its plugins name variables after it: VC_NODE_HOSTS
CONTAINER = "ascend"  # as MindCluster's components expect it


def labels_of(job: Job) -> dict[str, str]:
    """The labels of the job's objects."""
    return {**pairs(job.node.scheduler_options.get("labels", "")), **MANAGED,
            JOB_LABEL: str(job.pk)}


def kubernetes_job(job: Job) -> dict[str, Any]:
    """A Job that makes one pod and never a second one."""
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": _metadata(job),
            "spec": {"backoffLimit": 0, "completions": 1, "parallelism": 1,
                     "ttlSecondsAfterFinished": _retention_seconds(job),
                     "template": pod_template(job)}}


def volcano_job(job: Job) -> dict[str, Any]:
    """A Job of Volcano: all pods at once or none; the first that ends ends it."""
    options, nodes = job.node.scheduler_options, nodes_of(job)
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": _metadata(job),
            "spec": {"schedulerName": "volcano", "minAvailable": nodes, "maxRetry": 1,
                     "queue": options.get("queue", "default"),
                     "ttlSecondsAfterFinished": _retention_seconds(job),
                     "plugins": {"env": [], "svc": []},
                     "policies": [{"event": "PodEvicted", "action": "TerminateJob"},
                                  {"event": "PodFailed", "action": "TerminateJob"},
                                  {"event": "TaskCompleted", "action": "CompleteJob"}],
                     "tasks": [{"name": TASK, "replicas": nodes, "minAvailable": nodes,
                                "template": pod_template(job)}]}}


def nodes_of(job: Job) -> int:
    """How many pods the job has."""
    return job.node.scheduler_options.get("nodes") or 1


def _metadata(job: Job) -> dict[str, Any]:
    return {"name": job.directory_name, "labels": labels_of(job)}


def _retention_seconds(job: Job) -> int:
    return (job.node.scheduler_options.get("keep_hours") or KEEP_HOURS) * 3600


def pod_template(job: Job) -> dict[str, Any]:
    """One pod with one container, restarted by nobody."""
    options = job.node.scheduler_options
    is_container = job.runtime.get("place") == RuntimePlace.CONTAINER
    own = job.runtime["options"] if is_container else {}  # its image and what belongs to it
    named = _volumes(job, own)
    shared = {name: value for name, value in (
        ("nodeSelector", pairs(options.get("selector", ""))),
        ("tolerations", tolerations(options.get("tolerations", ""))),
        ("serviceAccountName", options.get("service_account")),
        ("priorityClassName", options.get("priority_class")),
        ("imagePullSecrets", [{"name": options["pull_secret"]}]
         if options.get("pull_secret") else None),
        ("hostNetwork", bool(options.get("host_network")) or own.get("network") == "host"),
        ("securityContext", _identity(own.get("user") or options.get("run_as", ""))),
    ) if value}
    return {"metadata": {"labels": labels_of(job)}, "spec": {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": GRACE_SECONDS,
        "activeDeadlineSeconds": seconds_at_most(job), "enableServiceLinks": False,
        "automountServiceAccountToken": False, **shared,
        "volumes": [{"name": name, **volume.source} for name, volume in named],
        "containers": [{
            "name": CONTAINER, "image": own.get("image") or options["image"],
            "command": batch_command(job), "env": _environment(job),
            "terminationMessagePolicy": "FallbackToLogsOnError", "resources": _resources(job),
            "volumeMounts": [{"name": name, "mountPath": volume.path, **(
                {"readOnly": True} if volume.is_read_only else {})} for name, volume in named]}]}}


def _volumes(job: Job, own: dict[str, Any]) -> list[tuple[str, volumes.Volume]]:
    options = job.node.scheduler_options
    found = volumes.parsed("\n".join([options.get("volumes", ""), *(
        f"host:{mount}" for mount in own.get("mounts", []))]))
    named = [(f"volume-{number}", volume) for number, volume in enumerate(found)]
    if shared := own.get("shm_gb") or options.get("shm_gb"):
        memory = {"emptyDir": {"medium": "Memory", "sizeLimit": f"{shared}Gi"}}
        named.append(("shared-memory", volumes.Volume("/dev/shm", memory, False)))
    return named


def _identity(text: str) -> dict[str, int]:
    user, _colon, group = text.partition(":")
    return {name: int(number) for name, number in (("runAsUser", user), ("runAsGroup", group))
            if number.isdigit()}


def _resources(job: Job) -> dict[str, Any]:
    options = job.node.scheduler_options
    wanted = {name: str(options[name]) for name in ("cpu", "memory") if options.get(name)}
    if job.cards_wanted:
        wanted[resource_of(job)] = str(job.cards_wanted)
    return {"requests": wanted, "limits": wanted} if wanted else {}


def resource_of(job: Job) -> str:
    """Under which name the cluster counts the job's cards."""
    return job.node.scheduler_options.get("resource") or chips.DEFAULT


def _environment(job: Job) -> list[dict[str, Any]]:
    def field(name: str, path: str) -> dict[str, Any]:
        return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}

    found = [{"name": "DESK_JOB", "value": job.directory_name},
             {"name": "DESK_NODES", "value": str(nodes_of(job))},
             field("DESK_POD_NODE", "spec.nodeName")]
    resource = resource_of(job)
    if job.cards_wanted and job.node.scheduler == "volcano" and resource.startswith(chips.PREFIX):
        # Ascend's plugin for Volcano names the chosen cards there, its container runtime reads it.
        found.append(field("ASCEND_VISIBLE_DEVICES", f"metadata.annotations['{resource}']"))
    return found
