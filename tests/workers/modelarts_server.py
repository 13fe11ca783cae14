"""A server that speaks version 2 of ModelArts' training API; its jobs are processes here.

A body with a field that the API reference does not have is refused, and so is a request whose
signature is not that of the secret key.
"""

import contextlib
import json
import os
import signal
import ssl
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from huaweicloudsdkcore.auth.credentials import BasicCredentials
from huaweicloudsdkcore.sdk_request import SdkRequest
from huaweicloudsdkcore.signer.signer import Signer

from tests.workers.kubernetes_cluster import own_certificate

PROJECT, ACCESS, SECRET = "0123456789abcdef", "AKEXAMPLE", "a-secret-access-key"
# https://support.huaweicloud.com/intl/en-us/api-modelarts/CreateTrainingJob.html, tables 2 to 30
FIELDS = {
    "": {"kind", "metadata", "algorithm", "tasks", "spec", "endpoints"},
    "metadata": {"name", "workspace_id", "description", "annotations"},
    "algorithm": {"id", "name", "subscription_id", "item_version_id", "code_dir", "boot_file",
                  "autosearch_config_path", "autosearch_framework_path", "command", "parameters",
                  "policies", "inputs", "outputs", "engine", "local_code_dir", "working_dir",
                  "environments"},
    "engine": {"engine_id", "engine_name", "engine_version", "image_url"},
    "spec": {"resource", "volumes", "log_export_path", "auto_stop", "schedule_policy"},
    "resource": {"flavor_id", "node_count", "pool_id"},
    "nfs": {"nfs_server_path", "local_path", "read_only"},
    "auto_stop": {"time_unit", "duration"},
    "schedule_policy": {"required_affinity", "priority", "preemptible"},
}
OVER = ("Completed", "Failed", "Terminated")


def require_known(body: dict, name: str = "") -> None:
    """Raises ValueError for a field that the reference does not have."""
    if unknown := set(body) - FIELDS.get(name, set(body)):
        raise ValueError(f"unknown fields of {name or 'the job'}: {sorted(unknown)}")
    for key, value in body.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict) and key != "environments":
                require_known(each, key)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "FakeModelArts"

    def log_message(self, *arguments) -> None:
        pass

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self._is_signed(data):
            return self._say(401, {"error_code": "APIGW.0301", "error_msg": "verify aksk failed"})
        path = self.path.removeprefix(f"/v2/{PROJECT}/")
        body = json.loads(data)
        try:
            if path == "training-job-searches":
                return self._say(200, self.server.search(body))
            if path == "training-jobs":
                require_known(body)
                return self._say(201, self.server.create(body))
            number, action = path.removeprefix("training-jobs/").split("/")
            assert (action, body) == ("actions", {"action_type": "terminate"})
            return self._say(202, self.server.terminate(number))
        except ValueError as error:
            return self._say(400, {"error_code": "ModelArts.2005", "error_msg": str(error)})

    def _is_signed(self, body: bytes) -> bool:
        signed = self.headers["Authorization"].partition("SignedHeaders=")[2].partition(",")[0]
        request = SdkRequest(
            method="POST", schema="http", host=self.headers["Host"], resource_path=self.path,
            query_params=[], body=body,
            header_params={name: self.headers[name] for name in signed.split(";")})
        Signer(BasicCredentials(ACCESS, SECRET, PROJECT)).sign(request)
        return request.header_params["Authorization"] == self.headers["Authorization"]

    def _say(self, code: int, answer: dict) -> None:
        data = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class FakeModelArts(ThreadingHTTPServer):
    """The server and its pool of two nodes; `flavors` are those that it has."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.authority = own_certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.pem")
        self.socket = context.wrap_socket(self.socket, server_side=True,
                                          do_handshake_on_connect=False)
        self.flavors = {f"modelarts.bm.npu.arm.{cards}snt9b": cards for cards in (1, 2, 4, 8)}
        self.jobs: dict[str, dict] = {}
        self.processes: dict[str, list[subprocess.Popen]] = {}
        self.free, self.lock = 16, threading.RLock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def options(self, shared: Path, **more) -> dict:
        return {"endpoint": f"https://127.0.0.1:{self.server_port}", "project": PROJECT,
                "authority": self.authority,
                "access_key": ACCESS, "flavor": "modelarts.bm.npu.arm.{cards}snt9b",
                "ma_image": "firm/cann:8.0", "mounts": f"sfs.example:/:{shared}", **more}

    def create(self, body: dict) -> dict:
        if body["spec"]["resource"]["flavor_id"] not in self.flavors:
            raise ValueError("Invalid flavor_id")
        number = str(uuid.uuid4())
        job = {**body, "metadata": {**body["metadata"], "id": number},
               "status": {"phase": "Creating", "secondary_phase": "Creating", "tasks": []}}
        with self.lock:
            self.jobs[number] = job
        threading.Thread(target=self._run, args=[job], daemon=True).start()
        return job

    def search(self, body: dict) -> dict:
        names = [name for each in body["filters"] for name in each["value"]]
        with self.lock:
            found = [job for job in self.jobs.values()
                     if not names or job["metadata"]["name"] in names]
            return {"total": len(found), "items": json.loads(json.dumps(found))}

    def terminate(self, number: str) -> dict:
        job = self.jobs[number]
        if job["status"]["phase"] in OVER:
            raise ValueError("the job has ended")
        job["status"] |= {"phase": "Terminating", "secondary_phase": "Terminating"}
        return job

    def _run(self, job: dict) -> None:
        resource = job["spec"]["resource"]
        wanted = self.flavors[resource["flavor_id"]] * resource["node_count"]
        while not self._taken(job, wanted):
            if job["status"]["phase"] == "Terminating":
                self._over(job, "Terminated")
                return
            time.sleep(0.05)
        begun = time.monotonic()
        ranks = range(resource["node_count"])
        job["status"] |= {"phase": "Running", "secondary_phase": "Running",
                          "tasks": [f"worker-{rank}" for rank in ranks]}
        processes = [self._container(job, rank, len(ranks)) for rank in ranks]
        self._wait(job, processes)
        job["status"]["duration"] = round((time.monotonic() - begun) * 1000)
        job["status"]["task_statuses"] = [
            {"task": f"worker-{rank}", "exit_code": process.returncode, "message": ""}
            for rank, process in enumerate(processes)]
        with self.lock:
            self.free += wanted
        is_bad = any(each.returncode for each in processes)
        self._over(job, "Terminated" if job["status"]["phase"] == "Terminating"
                   else "Failed" if is_bad else "Completed")

    def _over(self, job: dict, phase: str) -> None:
        job["status"] |= {"phase": phase, "secondary_phase": phase}

    def _taken(self, job: dict, wanted: int) -> bool:
        with self.lock:
            if job["status"]["phase"] == "Terminating":
                return False
            if self.free < wanted:
                job["status"] |= {"phase": "Pending", "secondary_phase": "Queuing"}
                return False
            self.free -= wanted
            return True

    def _container(self, job: dict, rank: int, ranks: int) -> subprocess.Popen:
        cards = self.flavors[job["spec"]["resource"]["flavor_id"]]
        return subprocess.Popen(
            ["sh", "-c", "exec " + job["algorithm"]["command"]], start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={
                "PATH": os.environ["PATH"], "HOSTNAME": f"worker-{rank}",
                "CONTAINER_OF": job["metadata"]["id"],
                "VC_TASK_INDEX": str(rank),
                "VC_WORKER_HOSTS": ",".join(f"worker-{n}.example" for n in range(ranks)),
                "ASCEND_VISIBLE_DEVICES": ",".join(map(str, range(cards))),
                **job["algorithm"]["environments"]})

    def _wait(self, job: dict, processes: list[subprocess.Popen]) -> None:
        deadline = None
        while any(process.poll() is None for process in processes):
            if job["status"]["phase"] == "Terminating":
                number = signal.SIGKILL if deadline and time.monotonic() > deadline \
                    else signal.SIGTERM if deadline is None else None
                deadline = deadline or time.monotonic() + 2
                for process in processes if number else ():
                    process.send_signal(number)
            time.sleep(0.02)
        _end_all_of(job["metadata"]["id"])


def _end_all_of(number: str) -> None:
    """A container ends with its first process, whatever else runs in it."""
    mark = f"CONTAINER_OF={number}\0".encode()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in entry.read_bytes():
                os.kill(int(entry.parent.name), signal.SIGKILL)


@contextlib.contextmanager
def running_modelarts(folder: Path) -> Iterator[FakeModelArts]:
    """A server whose certificate lies in the folder."""
    server = FakeModelArts(folder)
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
