"""Training jobs: created under the folder's name, searched for by it, terminated.

https://support.huaweicloud.com/intl/en-us/api-modelarts/CreateTrainingJob.html,
ListTrainingJobs.html, StopTrainingJob.html. Names need not be unique there: a job is searched for
before it is created, and should there be two, the wrapper lets one run.
"""

import math
import shlex
from typing import Any

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from workers.models import Job, RuntimePlace
from workers.nodes.reachability import SchedulerAway
from workers.remote.scheduled import Scheduled
from workers.schedulers.modelarts import modelarts_sentences
from workers.schedulers.modelarts.modelarts_options import mounts
from workers.schedulers.shared_folder import Refused, SharedFolder, batch_command, seconds_at_most

REQUIREMENTS = "requirements-clusters.txt"
PAGE = 50  # of a search, ModelArts' own limit
LIVE = ("Creating", "Pending", "Running", "Terminating")


class TrainingJobs(SharedFolder):
    sentences = modelarts_sentences

    def require_usable(self, options):
        super().require_usable(options)
        folders = [mount["local_path"] for mount in mounts(options["mounts"])]
        if not any(f"{self.node.scratch_dir}/".startswith(f"{folder.rstrip('/')}/")
                   for folder in folders):
            raise InvalidInput(_("The scratch folder %(folder)s lies below none of the writable "
                                 "volumes (%(volumes)s).") % {
                "folder": self.node.scratch_dir, "volumes": ", ".join(folders)})

    @property
    def api(self):
        """The module that asks; the library that signs is an optional package."""
        try:
            from workers.schedulers.modelarts import api
        except ImportError as error:
            raise SchedulerAway(_("This server lacks a package (%(why)s); install %(file)s.") % {
                "why": error, "file": REQUIREMENTS}) from error
        return api

    def submit(self, job):
        if found := self._found([job]).get(job.directory_name):
            return _number(found)
        api = self.api
        try:
            return _number(api.ask(self.node, "POST", "training-jobs", training_job(job)))
        except api.Answered as error:
            raise Refused(str(error)) from error

    def scheduled_of(self, jobs):
        found = self._found(jobs)
        return {job.pk: parsed_status(found.get(job.directory_name)) for job in jobs}

    def end(self, job, signal):
        found = self._found([job]).get(job.directory_name)
        if found is None or found["status"]["phase"] not in LIVE[:3]:
            return
        api = self.api
        try:
            api.ask(self.node, "POST", f"training-jobs/{_number(found)}/actions",
                    {"action_type": "terminate"})
        except api.Answered as error:
            raise SchedulerAway(str(error)) from error

    def running(self, job):
        found = self._found([job]).get(job.directory_name)
        phase = found["status"]["phase"] if found else ""
        return [f"{_number(found)} {phase}"] if phase in LIVE else []

    def probed(self, access):
        found = self._search([])
        return {"version": f"ModelArts v2, {found.get('total', 0)} jobs", "has_accounting": True,
                "partitions": []}

    def _found(self, jobs: list[Job]) -> dict[str, dict[str, Any]]:
        """By name; of several of one name the one that runs, else the oldest."""
        names, found = [job.directory_name for job in jobs], {}
        for begin in range(0, len(names), PAGE):
            for item in self._search(names[begin:begin + PAGE])["items"]:
                known = found.get(item["metadata"]["name"])
                if known is None or known["status"]["phase"] not in LIVE:
                    found[item["metadata"]["name"]] = item
        return found

    def _search(self, names: list[str]) -> dict[str, Any]:
        api = self.api
        filters = [{"key": "name", "operator": "in", "value": names}] if names else []
        workspace = self.node.scheduler_options.get("workspace")
        try:
            return api.ask(self.node, "POST", "training-job-searches", {
                "offset": 0, "limit": PAGE, "sort_by": "create_time", "order": "asc",
                "filters": filters, **({"workspace_id": workspace} if workspace else {})})
        except api.Answered as error:
            raise SchedulerAway(str(error)) from error


def _number(found: dict[str, Any]) -> str:
    return found["metadata"]["id"]


def training_job(job: Job) -> dict[str, Any]:
    """The body that creates it."""
    options = job.node.scheduler_options
    own = job.runtime["options"] if job.runtime.get("place") == RuntimePlace.CONTAINER else {}
    nodes = options.get("nodes") or 1
    resource = {"flavor_id": options["flavor"].replace("{cards}", str(job.cards_wanted or 1)),
                "node_count": nodes, **({"pool_id": options["pool"]} if options.get("pool")
                                        else {})}
    return {
        "kind": "job",
        "metadata": {"name": job.directory_name, "description": f"Delivery Desk {job.pk}",
                     **({"workspace_id": options["workspace"]} if options.get("workspace")
                        else {})},
        "algorithm": {"engine": {"image_url": own.get("image") or options["ma_image"]},
                      "command": shlex.join(batch_command(job)),
                      "environments": {"DESK_JOB": job.directory_name, "DESK_NODES": str(nodes)}},
        "spec": {"resource": resource,
                 "volumes": [{"nfs": mount} for mount in mounts(options["mounts"])],
                 "auto_stop": {"time_unit": "HOURS",  # the only unit
                               "duration": math.ceil(seconds_at_most(job) / 3600)},
                 **({"schedule_policy": {"priority": options["ma_priority"]}}
                    if options.get("ma_priority") else {})}}


def parsed_status(found: dict[str, Any] | None) -> Scheduled:
    """What a training job's status says; an empty one where there is none."""
    if found is None:
        return Scheduled()
    status = found.get("status", {})
    first = next(iter(status.get("task_statuses") or []), {})
    record = next(reversed(status.get("running_records") or []), {})
    resource = found.get("spec", {}).get("resource", {})
    inner = status.get("secondary_phase") or ""
    return Scheduled(
        job_id=_number(found), state=status["phase"], is_live=status["phase"] in LIVE,
        reason="" if inner == status["phase"] else inner, detail=record.get("end_reason") or "",
        exit_code=str(first.get("exit_code", "")), output=first.get("message") or "",
        nodes=",".join(status.get("tasks") or []),
        image=found.get("algorithm", {}).get("engine", {}).get("image_url", ""),
        accounting={"state": status["phase"], "seconds": str((status.get("duration") or 0) // 1000),
                    "given": f"{resource.get('node_count', 1)} × {resource.get('flavor_id', '')}"}
        if status["phase"] not in LIVE else {})
