"""A cluster on this machine that speaks Kubernetes' API: a server of its own, over HTTPS.

Whatever comes in or goes out passes through the official client's types; a field they do not know
is refused. Pods are real processes, each in a process namespace of its own where this user may make
one. What a cluster does to pods – no image, no room, memory, eviction, a lost node – is switched on
at `/_test/…`.

    python -m tests.workers.kubernetes_cluster FOLDER PORT
"""

import contextlib
import json
import re
import shlex
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

from tests.workers.kubernetes_kubelet import (
    JOBS,
    OVER,
    PODS,
    RESOURCE,
    VOLCANO,
    Kubelet,
    cards_of,
    now,
)

ROOT = Path(__file__).resolve().parents[2]
IMAGE = "registry.example/cann@sha256:" + "a" * 64
TYPES = client.ApiClient()
GROUPS = "podgroup"
PATHS = {"apis/batch/v1/jobs": JOBS, "api/v1/pods": PODS, "api/v1/events": "CoreV1Event",
         "api/v1/nodes": "V1Node", "apis/batch.volcano.sh/v1alpha1/jobs": VOLCANO,
         "apis/scheduling.volcano.sh/v1beta1/podgroups": GROUPS}
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
