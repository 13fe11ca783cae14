"""Volcano: a Job of batch.volcano.sh whose pods start all at once or not at all."""

from workers.schedulers.pods import answers, manifests
from workers.schedulers.pods.pod_jobs import PodJobs

JOBS = ("batch.volcano.sh", "v1alpha1")
GROUPS = ("scheduling.volcano.sh", "v1beta1")


class VolcanoJobs(PodJobs):

    def _create(self, job):
        return self.api.ask(self._objects().create_namespaced_custom_object, *JOBS,
                            self.namespace, "jobs", manifests.volcano_job(job))

    def _read(self, name):
        return self.api.ask(self._objects().get_namespaced_custom_object, *JOBS, self.namespace,
                            "jobs", name)

    def _delete(self, name, grace):
        self.api.ask(self._objects().delete_namespaced_custom_object, *JOBS, self.namespace,
                     "jobs", name, grace_period_seconds=grace, propagation_policy="Foreground")

    def _scheduled(self, jobs, selector, pods, warnings):
        found = {item["metadata"]["name"]: item
                 for item in self._listed(JOBS, "jobs", label_selector=selector)}
        groups = self._groups() if any(
            job.directory_name in found and not pods[str(job.pk)] for job in jobs) else {}
        return {job.pk: answers.volcano_of(
            found.get(job.directory_name), pods[str(job.pk)],
            groups.get(job.directory_name), warnings) for job in jobs}

    def _groups(self) -> dict[str, dict]:
        """PodGroups by the name of their job."""
        return {owner["name"]: group for group in self._listed(GROUPS, "podgroups")
                for owner in group["metadata"].get("ownerReferences", [])}

    def _listed(self, kind: tuple[str, str], plural: str, **options) -> list[dict]:
        return self._asked(self._objects().list_namespaced_custom_object, *kind, self.namespace,
                           plural, **options)["items"]

    def _objects(self):
        return self.api.client.CustomObjectsApi(self.api.of(self.node))
