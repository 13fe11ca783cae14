"""A kind of cluster: a Slurm whose programs need the site's module first."""

import shlex

from workers import schedulers
from workers.schedulers import ClusterKind, slurm_options
from workers.schedulers.options import Option
from workers.schedulers.slurm import Slurm


class SiteSlurm(Slurm):
    def visit_script(self, starting, polled, files_of=(), sample_seconds=0):
        module = self.node.scheduler_options.get("site_module") or "slurm"
        return f"module load {shlex.quote(module)}\n" + super().visit_script(
            starting, polled, files_of, sample_seconds)


schedulers.register("site_slurm", "Slurm of the site", ClusterKind(
    SiteSlurm, (*slurm_options.OPTIONS, Option("site_module", "Module")), "Cluster: site"))
