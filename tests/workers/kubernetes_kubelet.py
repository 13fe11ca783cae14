"""What runs the pods of `kubernetes_cluster`: one thread and one process for each."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

RESOURCE = "huawei.com/Ascend910"
OVER = ("Succeeded", "Failed")
PACE = 20  # a pod's time limit of a minute takes three seconds
JOBS, PODS, VOLCANO = "V1Job", "V1Pod", "volcano"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def cards_of(pod: dict) -> int:
    limits = pod["spec"]["containers"][0].get("resources", {}).get("limits", {})
    return int(limits.get(RESOURCE, 0))


class Kubelet(threading.Thread):
    """Runs one pod: image, volumes, process, end."""

    def __init__(self, cluster, kind: str, job: dict, pod: dict, rank: int, ranks: int
                 ) -> None:
        super().__init__(daemon=True)
        self.cluster, self.kind, self.job, self.pod = cluster, kind, job, pod
        self.rank, self.ranks = rank, ranks
        self.process: subprocess.Popen | None = None
        self.deadline: float | None = None  # of its deletion
        self.is_told = False
        self.fate: tuple[str, str, str] | None = None  # phase, reason of the pod, of its container

    @property
    def status(self) -> dict:
        return self.pod["status"]

    def run(self) -> None:
        if self._placed() and self._made():
            self._begin()
            self._watch()
        self._gone_if_leaving()

    def leave(self, grace: int | None) -> None:
        own = self.pod["spec"].get("terminationGracePeriodSeconds", 30)
        self.pod["metadata"]["deletionTimestamp"] = now()
        until = time.monotonic() + (own if grace is None else grace)
        self.deadline = min(self.deadline or until, until)
        if self.status["phase"] in OVER:
            self._gone_if_leaving()

    def _placed(self) -> bool:
        wanted = cards_of(self.pod)
        while not self.deadline:
            if node := self.cluster.node_for(self.pod, self.job, wanted):
                self.status["conditions"] = [{"type": "PodScheduled", "status": "True"}]
                self.node = node
                return True
            self.status["conditions"] = [{
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": f"0/{len(self.cluster.capacity)} nodes are available: "
                           f"{len(self.cluster.capacity)} Insufficient {RESOURCE}."}]
            time.sleep(0.05)
        return False

    def _made(self) -> bool:
        container = self.pod["spec"]["containers"][0]
        image = container["image"]
        while not self.deadline:
            lacking = [each["persistentVolumeClaim"]["claimName"]
                       for each in self.pod["spec"].get("volumes", [])
                       if each.get("persistentVolumeClaim", {}).get("claimName", "desk-share")
                       not in self.cluster.claims]
            if lacking:
                self._waiting("ContainerCreating", "")
                self.cluster.warn(self.pod, "FailedMount",
                                  f'persistentvolumeclaim "{lacking[0]}" not found')
            elif image not in self.cluster.images:
                self._waiting("ImagePullBackOff", f'Back-off pulling image "{image}"')
            else:
                return True
            time.sleep(0.1)
        return False

    def _waiting(self, reason: str, message: str) -> None:
        self._container({"waiting": {"reason": reason, "message": message}})

    def _container(self, state: dict) -> None:
        container = self.pod["spec"]["containers"][0]
        self.status["containerStatuses"] = [{
            "name": container["name"], "image": container["image"], "imageID": container["image"],
            "ready": False, "restartCount": 0, "state": state}]

    def _begin(self) -> None:
        container = self.pod["spec"]["containers"][0]
        name = self.pod["metadata"]["name"]
        self.output = self.cluster.folder / f"{name}.out"
        apart = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child=KILL"] \
            if os.getuid() == 0 else []
        self.begun = now()
        self._container({"running": {"startedAt": self.begun}})
        self.process = subprocess.Popen(
            [*apart, *container["command"]], env=self._environment(container), cwd="/",
            stdout=self.output.open("wb"), stderr=subprocess.STDOUT, start_new_session=True)
        self.status["phase"] = "Running"
        if self.kind == VOLCANO:
            self.job["status"]["state"] = {"phase": "Running"}

    def _environment(self, container: dict) -> dict[str, str]:
        known = {"spec.nodeName": self.node, f"metadata.annotations['{RESOURCE}']": ",".join(
            f"Ascend910-{n}" for n in range(cards_of(self.pod)))}
        found = {each["name"]: each["value"] if "value" in each
                 else known[each["valueFrom"]["fieldRef"]["fieldPath"]]
                 for each in container.get("env", [])}
        job = self.job["metadata"]["name"]
        if self.kind == VOLCANO:  # its plugins svc and env
            found |= {"VC_TASK_INDEX": str(self.rank), "VC_NODE_HOSTS": ",".join(
                f"{job}-node-{n}.{job}" for n in range(self.ranks))}
        elif cards_of(self.pod):  # the device plugin itself
            found["ASCEND_VISIBLE_DEVICES"] = ",".join(map(str, range(cards_of(self.pod))))
        return {"PATH": os.environ["PATH"], "HOME": "/root",
                "HOSTNAME": self.pod["metadata"]["name"], **found}

    def _watch(self) -> None:
        limit = time.monotonic() + self.pod["spec"].get("activeDeadlineSeconds", 1e9) / PACE
        while self.process.poll() is None:
            if self.fate:
                self._signal(signal.SIGKILL)
            elif time.monotonic() > limit:
                self.fate = ("Failed", "DeadlineExceeded", "Error")
            elif self.deadline:
                if not self.is_told:
                    self._signal(signal.SIGTERM)
                    self.is_told = True
                elif time.monotonic() > self.deadline:
                    self._signal(signal.SIGKILL)
            time.sleep(0.02)
        self._ended()

    def _signal(self, number: int) -> None:
        """To the first process of the container."""
        first = self.process.pid
        if os.getuid() == 0:
            with contextlib.suppress(OSError, IndexError):
                first = int(Path(f"/proc/{first}/task/{first}/children").read_text().split()[0])
        with contextlib.suppress(OSError):
            os.kill(first, number)
            if os.getuid() != 0 and number == signal.SIGKILL:
                os.killpg(self.process.pid, number)

    def _ended(self) -> None:
        code = self.process.returncode
        code = 128 - code if code < 0 else code
        phase, reason, why = self.fate or ("Succeeded" if code == 0 else "Failed", "",
                                           "Completed" if code == 0 else "Error")
        ended = {"exitCode": code, "reason": why, "startedAt": self.begun, "finishedAt": now()}
        if code:  # terminationMessagePolicy: FallbackToLogsOnError
            ended["message"] = self.output.read_text(errors="replace")[-2048:]
        self._container({"terminated": ended})
        self.status.update({"phase": phase, **(
            {"reason": reason, "message": "as the test asked"} if reason else {})})
        self.cluster.pod_ended(self.kind, self.job, self.pod)

    def _gone_if_leaving(self) -> None:
        if not self.deadline:
            return
        with self.cluster.lock:
            self.cluster.objects.pop((PODS, self.pod["metadata"]["name"]), None)
        self.cluster.forget_empty(self.kind, self.job)

    # What a test does to it -------------------------------------------------------

    def suffer(self, what: str) -> None:
        if what == "lost":
            self.status["conditions"] = [{
                "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
                "message": "Taint manager: deleting due to NoExecute taint"}]
            self.pod["metadata"]["deletionTimestamp"] = now()
            time.sleep(2)  # for whoever looks; then the garbage collector of pods comes
            self.deadline = time.monotonic()
        self.fate = {"oom": ("Failed", "", "OOMKilled"), "evicted": ("Failed", "Evicted", "Error"),
                     "lost": ("Failed", "", "Error")}[what]
