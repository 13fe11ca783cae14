"""Kubernetes alone: a Job of batch/v1 with one pod."""

from workers.schedulers.pods import answers, manifests
from workers.schedulers.pods.pod_jobs import PodJobs


class KubernetesJobs(PodJobs):

    def _create(self, job):
        return self.api.ask(self._batch().create_namespaced_job, self.namespace,
                            manifests.kubernetes_job(job))

    def _read(self, name):
        return self.api.ask(self._batch().read_namespaced_job, name, self.namespace)

    def _delete(self, name, grace):
        """In the foreground: the Job is there until its pods are gone."""
        self.api.ask(self._batch().delete_namespaced_job, name, self.namespace,
                     grace_period_seconds=grace, propagation_policy="Foreground")

    def _scheduled(self, jobs, selector, pods, warnings):
        found = {item["metadata"]["name"]: item for item in self._asked(
            self._batch().list_namespaced_job, self.namespace, label_selector=selector)["items"]}
        return {job.pk: answers.job_of(found.get(job.directory_name), pods[str(job.pk)], warnings)
                for job in jobs}

    def _batch(self):
        return self.api.client.BatchV1Api(self.api.of(self.node))
