"""Jobs as pods: submitted, looked up and deleted over the cluster's API."""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from workers.models import Job
from workers.nodes.reachability import SchedulerAway
from workers.schedulers.pods import answers, chips, manifests, pod_sentences, volumes
from workers.schedulers.shared_folder import Refused, SharedFolder

REQUIREMENTS = "requirements-clusters.txt"
NAMED_AT_MOST = 50  # jobs named in one question; for more, all of the desk's are asked for
GRACE = {"TERM": manifests.GRACE_SECONDS, "KILL": 1}  # 0 would forget the pod without proof


class PodJobs(SharedFolder):
    """Base of both: which objects a job is made of."""

    sentences = pod_sentences

    @abstractmethod
    def _create(self, job: Job) -> dict[str, Any]:
        """The object that the server made."""

    @abstractmethod
    def _read(self, name: str) -> dict[str, Any]:
        """The object of that name."""

    @abstractmethod
    def _delete(self, name: str, grace: int) -> None:
        """Delete it, its pods first."""

    @abstractmethod
    def _scheduled(self, jobs: list[Job], selector: str, pods: dict[str, list[dict[str, Any]]],
                   warnings: dict[str, str]) -> dict[int, Any]:
        """What the cluster reports of each, pods being given by the label of their job."""

    def require_usable(self, options):
        super().require_usable(options)
        found = volumes.parsed(options["volumes"])
        if not volumes.holding(found, self.node.scratch_dir):
            raise InvalidInput(_("The scratch folder %(folder)s lies below none of the writable "
                                 "volumes (%(volumes)s).") % {
                "folder": self.node.scratch_dir,
                "volumes": ", ".join(volume.path for volume in found)})

    @property
    def namespace(self) -> str:
        return self.node.scheduler_options.get("namespace") or "default"

    @property
    def api(self):
        """The module that asks; its client is an optional package."""
        try:
            from workers.schedulers.pods import api
        except ImportError as error:
            raise SchedulerAway(_("This server lacks a package (%(why)s); install %(file)s.") % {
                "why": error, "file": REQUIREMENTS}) from error
        return api

    def submit(self, job):
        api = self.api
        try:
            return self._create(job)["metadata"]["uid"]
        except api.Answered as error:
            if error.status != api.EXISTS:
                raise Refused(str(error)) from error
            return self._known(job)

    def _known(self, job: Job) -> str:
        """An earlier answer was lost on its way: the job of that name is this one."""
        api = self.api
        try:
            return self._read(job.directory_name)["metadata"]["uid"]
        except api.Answered as error:
            raise SchedulerAway(str(error)) from error

    def scheduled_of(self, jobs):
        selector = _selector(jobs)
        pods: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for pod in self._pods(selector):
            pods[pod["metadata"]["labels"].get(manifests.JOB_LABEL, "")].append(pod)
        return self._scheduled(jobs, selector, pods, self._warnings(pods.values()))

    def end(self, job, signal):
        api = self.api
        try:
            self._delete(job.directory_name, GRACE[signal])
            for pod in self._pods(_selector([job])) if signal == "KILL" else ():
                self._hurry(pod["metadata"]["name"])
        except api.Answered as error:
            if error.status != api.NOT_FOUND:
                raise SchedulerAway(str(error)) from error

    def running(self, job):
        return [answers.shown(pod) for pod in self._pods(_selector([job]))
                if pod.get("status", {}).get("phase") not in answers.ENDED]

    def _hurry(self, pod: str) -> None:
        """A deletion that waits for its grace waits no longer."""
        self.api.ask(self._core().delete_namespaced_pod, pod, self.namespace,
                     grace_period_seconds=GRACE["KILL"])

    def _pods(self, selector: str) -> list[dict[str, Any]]:
        return self._asked(self._core().list_namespaced_pod, self.namespace,
                           label_selector=selector)["items"]

    def _warnings(self, pods: Iterable[list[dict[str, Any]]]) -> dict[str, str]:
        """The newest warning about each pod whose container is being made."""
        if not any(_is_being_made(pod) for some in pods for pod in some):
            return {}
        events = self._asked(
            self._core().list_namespaced_event, self.namespace,
            field_selector="type=Warning,involvedObject.kind=Pod", limit=500)["items"]
        return {event["involvedObject"].get("name", ""):
                f"{event.get('reason', '')}: {event.get('message', '')}" for event in events}

    def _asked(self, call, *arguments, **options) -> Any:
        """As `api.ask`; what the server says against a question is no news of a job."""
        api = self.api
        try:
            return api.ask(call, *arguments, **options)
        except api.Answered as error:
            raise SchedulerAway(f"{error.status} {error}") from error

    def _core(self):
        return self.api.client.CoreV1Api(self.api.of(self.node))

    def probed(self, access):
        api = self.api
        version = self._asked(api.client.VersionApi(api.of(self.node)).get_code)
        self._pods(_selector([]))  # the token may at least look at pods of the namespace
        try:
            nodes = api.ask(self._core().list_node)["items"]
        except api.Answered:  # a token for one namespace may not see nodes
            nodes = []
        return {"version": version.get("gitVersion", ""), "has_accounting": True,
                "partitions": [_partition(node) for node in nodes]}


def _selector(jobs: list[Job]) -> str:
    managed = ",".join(f"{name}={value}" for name, value in manifests.MANAGED.items())
    if not jobs or len(jobs) > NAMED_AT_MOST:
        return managed
    return f"{managed},{manifests.JOB_LABEL} in ({','.join(str(job.pk) for job in jobs)})"


def _is_being_made(pod: dict[str, Any]) -> bool:
    status = pod.get("status", {})
    return status.get("phase") == "Pending" and bool(pod.get("spec", {}).get("nodeName"))


def _partition(node: dict[str, Any]) -> dict[str, str]:
    """A node of the cluster as a row of the node's page, with all cards that it counts."""
    ready = {each["type"]: each["status"] for each in node["status"].get("conditions", [])}
    is_open = not node.get("spec", {}).get("unschedulable")
    cards = {name: amount for name, amount in node["status"].get("allocatable", {}).items()
             if name.startswith(chips.PREFIX)}
    return {"name": node["metadata"]["name"], "up": "up" if is_open else "cordoned", "nodes": "1",
            "state": "Ready" if ready.get("Ready") == "True" else "NotReady", "time_limit": "",
            "gres": ", ".join(f"{name}={amount}" for name, amount in sorted(cards.items()))}
