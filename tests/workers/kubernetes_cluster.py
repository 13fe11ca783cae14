"""A cluster on this machine that speaks Kubernetes' API: a server of its own, over HTTPS.

Whatever comes in or goes out passes through the official client's types; a field they do not know
is refused. Pods are real processes, each in a process namespace of its own where this user may make
one. What a cluster does to pods – no image, no room, memory, eviction, a lost node – is switched on
at `/_test/…`.

    python -m tests.workers.kubernetes_cluster FOLDER PORT
"""

import contextlib
import json
import os
import re
import shlex
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from kubernetes import client

ROOT = Path(__file__).resolve().parents[2]
RESOURCE = "huawei.com/Ascend910"
IMAGE = "registry.example/cann@sha256:" + "a" * 64
TYPES = client.ApiClient()
JOBS, PODS, VOLCANO, GROUPS = "V1Job", "V1Pod", "volcano", "podgroup"
PATHS = {"apis/batch/v1/jobs": JOBS, "api/v1/pods": PODS, "api/v1/events": "CoreV1Event",
         "api/v1/nodes": "V1Node", "apis/batch.volcano.sh/v1alpha1/jobs": VOLCANO,
         "apis/scheduling.volcano.sh/v1beta1/podgroups": GROUPS}
OVER = ("Succeeded", "Failed")


def typed(value: dict, kind: str) -> dict:
    """The value as the official type holds it. Raises ValueError for a field it does not have."""
    held = TYPES.sanitize_for_serialization(TYPES._ApiClient__deserialize(value, kind))
    _require_same(value, held, kind)
    return held


def _require_same(given, held, where: str) -> None:
    if isinstance(given, dict):
        for name, inner in given.items():
            if inner is None or inner in ({}, []):
                continue
            if not isinstance(held, dict) or name not in held:
                raise ValueError(f"unknown field {where}.{name}")
            _require_same(inner, held[name], f"{where}.{name}")
    elif isinstance(given, list):
        for number, (one, other) in enumerate(zip(given, held, strict=True)):
            _require_same(one, other, f"{where}[{number}]")


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class Status(Exception):
    """An answer that is no object."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        self.code, self.reason, self.message = code, reason, message


class Cluster:
    """The state of the API server, its controllers and one kubelet per node."""

    def __init__(self, folder: Path, nodes: int = 2, cards: int = 8) -> None:
        self.folder, self.lock = folder, threading.RLock()
        self.objects: dict[tuple[str, str], dict] = {}
        self.events: list[dict] = []
        self.images, self.claims = {IMAGE}, {"desk-share"}
        self.capacity = {f"worker-{n}": cards for n in range(nodes)}
        self.kubelets: dict[str, Kubelet] = {}

    # Objects --------------------------------------------------------------------

    def create(self, kind: str, namespace: str, body: dict) -> dict:
        name = body["metadata"]["name"]
        if kind == VOLCANO:
            for task in body["spec"]["tasks"]:
                typed(task["template"], "V1PodTemplateSpec")
        else:
            body = typed(body, kind)
        with self.lock:
            if (kind, name) in self.objects:
                raise Status(409, "AlreadyExists", f'jobs.batch "{name}" already exists')
            body["metadata"] |= {"uid": str(uuid.uuid4()), "namespace": namespace,
                                 "creationTimestamp": now()}
            body["status"] = {}
            self.objects[kind, name] = body
            self._make_pods(kind, body)
            return body

    def _make_pods(self, kind: str, job: dict) -> None:
        if kind == JOBS:
            templates = [job["spec"]["template"]]
        else:
            [task] = job["spec"]["tasks"]
            templates = [task["template"]] * task["replicas"]
            job["status"] = {"state": {"phase": "Pending"}}
        for number, template in enumerate(templates):
            name = f"{job['metadata']['name']}-node-{number}" if kind == VOLCANO \
                else f"{job['metadata']['name']}-{uuid.uuid4().hex[:5]}"
            pod = {"metadata": {**template["metadata"], "name": name, "uid": str(uuid.uuid4()),
                                "ownerReferences": [{
                                    "apiVersion": job["apiVersion"], "kind": "Job",
                                    "name": job["metadata"]["name"],
                                    "uid": job["metadata"]["uid"]}]},
                   "spec": json.loads(json.dumps(template["spec"])),
                   "status": {"phase": "Pending"}}
            self.objects[PODS, name] = pod
            self.kubelets[name] = Kubelet(self, kind, job, pod, number, len(templates))
        for pod in self.pods_of(job):
            self.kubelets[pod["metadata"]["name"]].start()

    def pods_of(self, job: dict) -> list[dict]:
        return [pod for (kind, _name), pod in self.objects.items() if kind == PODS
                and pod["metadata"]["ownerReferences"][0]["uid"] == job["metadata"]["uid"]]

    def delete(self, kind: str, name: str, query: dict) -> dict:
        with self.lock:
            found = self.objects.get((kind, name))
            if found is None:
                raise Status(404, "NotFound", f'"{name}" not found')
            grace = query.get("gracePeriodSeconds")
            if kind == PODS:
                self.kubelets[name].leave(int(grace) if grace else None)
                return found
            assert query.get("propagationPolicy") == "Foreground", query
            found["metadata"]["deletionTimestamp"] = now()
            for pod in self.pods_of(found):  # their own grace counts, not that of the Job
                self.kubelets[pod["metadata"]["name"]].leave(None)
            self.forget_empty(kind, found)
            return found

    def forget_empty(self, kind: str, job: dict) -> None:
        """A Job that is being deleted in the foreground goes with its last pod."""
        with self.lock:
            if job["metadata"].get("deletionTimestamp") and not self.pods_of(job):
                self.objects.pop((kind, job["metadata"]["name"]), None)

    def read(self, kind: str, name: str) -> dict:
        with self.lock:
            if (kind, name) not in self.objects:
                raise Status(404, "NotFound", f'"{name}" not found')
            return self.objects[kind, name]

    def listed(self, kind: str, query: dict) -> list[dict]:
        with self.lock:
            if kind == "CoreV1Event":
                return list(self.events)
            if kind == "V1Node":
                return [{"metadata": {"name": name}, "spec": {}, "status": {
                    "allocatable": {RESOURCE: str(cards)},
                    "conditions": [{"type": "Ready", "status": "True"}]}}
                    for name, cards in self.capacity.items()]
            return [found for (each, _name), found in self.objects.items()
                    if each == kind and selected(found["metadata"].get("labels") or {},
                                                 query.get("labelSelector", ""))]

    # Scheduling and ends --------------------------------------------------------

    def node_for(self, pod: dict, job: dict, wanted: int) -> str | None:
        """A node with as many free cards; for Volcano all pods of the job fit, or none."""
        with self.lock:
            free = self._free()
            pods = [each for each in self.pods_of(job) if "nodeName" not in each["spec"]]
            if sum(cards // wanted for cards in free.values() if wanted) < len(pods) and wanted:
                return None
            node = next((name for name, cards in free.items() if cards >= wanted), None)
            if node:
                pod["spec"]["nodeName"] = node
            return node

    def _free(self) -> dict[str, int]:
        free = dict(self.capacity)
        for (kind, _name), pod in self.objects.items():
            node = pod.get("spec", {}).get("nodeName") if kind == PODS else None
            if node in free and pod["status"]["phase"] not in OVER:
                free[node] -= cards_of(pod)
        return free

    def pod_ended(self, kind: str, job: dict, pod: dict) -> None:
        with self.lock:
            phases = [each["status"]["phase"] for each in self.pods_of(job)] or ["Failed"]
            if kind == JOBS:
                over = "Complete" if "Succeeded" in phases else "Failed"
                reason = "CompletionsReached" if over == "Complete" else "BackoffLimitExceeded"
                job["status"]["conditions"] = [{
                    "type": over, "status": "True", "reason": reason, "message": reason}]
            elif job["status"]["state"]["phase"] in ("Pending", "Running"):
                is_good = all(phase == "Succeeded" for phase in phases)
                if is_good or "Failed" in phases:
                    job["status"]["state"] = {"phase": "Completed" if is_good else "Terminated"}
                    for other in self.pods_of(job):
                        if other["status"]["phase"] not in OVER:
                            self.kubelets[other["metadata"]["name"]].leave(None)

    def warn(self, pod: dict, reason: str, message: str) -> None:
        self.events.append({
            "metadata": {"name": uuid.uuid4().hex, "namespace": "default"}, "type": "Warning",
            "involvedObject": {"kind": "Pod", "name": pod["metadata"]["name"]},
            "reason": reason, "message": message})


def selected(labels: dict, selector: str) -> bool:
    """Whether the labels are as `name=value` and `name in (a,b)` between commas want them."""
    sets = re.findall(r"([^,\s]+) in \(([^)]*)\)", selector)
    equals = re.findall(r"([^,\s=]+)=([^,\s]+)", selector)
    return all(labels.get(name) in values.split(",") for name, values in sets) and all(
        labels.get(name) == value for name, value in equals)


def cards_of(pod: dict) -> int:
    limits = pod["spec"]["containers"][0].get("resources", {}).get("limits", {})
    return int(limits.get(RESOURCE, 0))


class Kubelet(threading.Thread):
    """Runs one pod: image, volumes, process, end."""

    def __init__(self, cluster: Cluster, kind: str, job: dict, pod: dict, rank: int, ranks: int
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
        limit = time.monotonic() + self.pod["spec"].get("activeDeadlineSeconds", 1e9)
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


class Handler(BaseHTTPRequestHandler):
    cluster: Cluster
    token: str
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments) -> None:
        pass

    def _answer(self) -> None:
        address = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(address.query).items()}
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or "null") if length else None
        try:
            if self.headers.get("authorization") != f"Bearer {self.token}":
                raise Status(401, "Unauthorized", "Unauthorized")
            code, answer = self._routed(address.path.strip("/"), query, body)
        except Status as error:
            code, answer = error.code, typed({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": error.code,
                "reason": error.reason, "message": error.message}, "V1Status")
        except (ValueError, KeyError, AssertionError) as error:
            code, answer = 422, {"kind": "Status", "message": f"{type(error).__name__}: {error}"}
        data = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = _answer  # noqa: N815 (names of http.server)

    def _routed(self, path: str, query: dict, body) -> tuple[int, dict]:
        if path == "version":
            unknown = ("buildDate", "compiler", "gitCommit", "gitTreeState", "goVersion",
                       "platform")
            return 200, typed(dict.fromkeys(unknown, "-") | {
                "gitVersion": "v1.36.0", "major": "1", "minor": "36"}, "VersionInfo")
        if path.startswith("_test/"):
            return 200, self._tested(path.split("/")[1:])
        before, namespaces, rest = path.partition("/namespaces/")
        namespace, *words = rest.split("/") if namespaces else ["", path.rpartition("/")[2]]
        kind = PATHS.get(f"{before if namespaces else path.rpartition('/')[0]}/{words[0]}")
        if kind is None or namespace not in ("default", ""):
            raise Status(404, "NotFound", f"{path} not found")
        if self.command == "POST":
            return 201, self.cluster.create(kind, namespace, body)
        if self.command == "DELETE":
            return 200, self.cluster.delete(kind, words[1], query)
        return 200, self.cluster.read(kind, words[1]) if words[1:] else self._list(kind, query)

    def _list(self, kind: str, query: dict) -> dict:
        items = self.cluster.listed(kind, query)
        if kind in (VOLCANO, GROUPS):
            return {"items": items}
        return {"kind": "List", "apiVersion": "v1", "metadata": {},
                "items": [typed(item, kind) for item in items]}

    def _tested(self, words: list[str]) -> dict:
        what, *names = words
        if what == "image":
            self.cluster.images.add(IMAGE.replace("cann@", f"{names[0]}@"))
        elif what == "claim":
            self.cluster.claims.add(names[0])
        elif what == "pods":
            for name, kubelet in list(self.cluster.kubelets.items()):
                if name.startswith(names[0]):
                    kubelet.suffer(names[1])
        elif what == "drop":  # as its time to live would
            self.cluster.objects = {key: found for key, found in self.cluster.objects.items()
                                    if not key[1].startswith(names[0])}
        return {"jobs": [name for kind, name in self.cluster.objects if kind in (JOBS, VOLCANO)]}


def serve(folder: Path, port: int) -> None:
    Handler.cluster = Cluster(folder)
    Handler.token = (folder / "token").read_text()
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
    server.serve_forever()


class FakeKubernetes:
    """The server as a process, for tests."""

    def __init__(self, root: Path, port: int) -> None:
        self.root, self.port, self.process = root, port, None
        root.mkdir(parents=True)
        self.token = uuid.uuid4().hex
        (root / "token").write_text(self.token)
        self.authority = own_certificate(root)

    def command(self) -> list[str]:
        return [sys.executable, "-m", "tests.workers.kubernetes_cluster", str(self.root),
                str(self.port)]

    def lines(self) -> str:
        """The same as a line of a shell script, in the background."""
        return f"(cd {ROOT} && exec {shlex.join(self.command())} >/dev/null 2>&1) &\n"

    def options(self, shared: Path, **more) -> dict:
        """Options of a node whose scratch folder lies below `shared`."""
        return {"server": f"https://127.0.0.1:{self.port}", "authority": self.authority,
                "image": IMAGE, "volumes": f"pvc:desk-share:{shared}", **more}

    def start(self) -> "FakeKubernetes":
        self.process = subprocess.Popen(self.command(), cwd=ROOT, stdout=subprocess.DEVNULL,
                                        stderr=(self.root / "errors").open("ab"))
        self.wait()
        return self

    def wait(self, seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while True:
            with contextlib.suppress(OSError):
                self.ask("version")
                return
            assert time.monotonic() < until, (self.root / "errors").read_text()
            time.sleep(0.1)

    def stop(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def ask(self, path: str) -> dict:
        request = urllib.request.Request(
            f"https://127.0.0.1:{self.port}/{path}",
            headers={"authorization": f"Bearer {self.token}"})
        context = ssl.create_default_context(cadata=self.authority)
        with urllib.request.urlopen(request, context=context, timeout=10) as answer:
            return json.load(answer)

    def suffer(self, job, what: str) -> None:
        self.ask(f"_test/pods/{job.directory_name}/{what}")


def own_certificate(root: Path) -> str:
    """A certificate of the server that is its own authority; returns it as PEM."""
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubernetes")])
    begin = datetime.now(UTC) - timedelta(days=1)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(begin)
        .not_valid_after(begin + timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName(
            [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256()))
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    (root / "server.pem").write_bytes(pem + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()))
    return pem.decode()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]))
