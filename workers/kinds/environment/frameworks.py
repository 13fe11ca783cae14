"""Checks of frameworks and of the GPU side (DOMAIN 4.1). Their log is judged, not only its end."""

import re
from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import PracticeRun
from workers.runtimes import software

PYTHON = Parameter("python", _("Python interpreter"), "path", default="python3")
TF_SCRIPT = ("import tensorflow as tf; print('tensorflow', tf.__version__); "
             "print(tf.reduce_sum(tf.random.normal([1000, 1000])))")
MS_SCRIPT = "import mindspore; mindspore.run_check()"


class _Check(JobKind):
    stages = (Stage.ENV,)
    needs_model = False
    timeout_seconds = 600
    usual_seconds = 30
    parameters: ClassVar = (PYTHON,)
    script: ClassVar[str]
    pattern: ClassVar[re.Pattern]
    missing: ClassVar[str]
    done: ClassVar[str]
    item: ClassVar[str]  # of the software of a node

    def argv(self, parameters):
        return [parameters["python"], "-c", self.script]

    def conclude(self, finished: Finished) -> Judgement:
        found = self.pattern.search(finished.log)
        if finished.exit_status != 0 or not found:
            return Judgement(False, self.missing)
        return Judgement(True, self.done, found.groupdict(), found.groupdict())

    def after(self, job, finished):
        if found := self.pattern.search(finished.log):
            software.keep(job, **{self.item: found["version"]})


@register
class TensorflowCheck(_Check):
    code = "env.tf_check"
    title = _("TensorFlow check")
    description = _("Imports TensorFlow and sums a random matrix.")
    success = _("A tensor with a finite number is printed.")
    script = TF_SCRIPT
    item = "tensorflow"
    pattern = re.compile(r"tensorflow (?P<version>\S+)[\s\S]*?"
                         r"(?:tf\.Tensor\((?P<value>-?\d[\d.e+-]*),|Tensor\(\"Sum)")
    missing = gettext_noop("TensorFlow returned no tensor; the log shows why.")
    done = gettext_noop("TensorFlow %(version)s computes; whether it does so on an NPU was not "
                        "looked at.")
    practice_runs = (PracticeRun({}, {"version": "2.6.5"}),)


@register
class MindsporeCheck(_Check):
    code = "env.ms_check"
    title = _("MindSpore check")
    description = _("Runs mindspore.run_check(), which multiplies on the device.")
    success = _("MindSpore says that it has been installed successfully on the Ascend platform.")
    script = MS_SCRIPT
    item = "mindspore"
    pattern = re.compile(
        r"MindSpore version:\s*(?P<version>\S+)[\s\S]*"
        r"MindSpore has been installed on platform \[(?P<platform>\w+)\] successfully")
    missing = gettext_noop("MindSpore's own check did not succeed; the log shows why.")
    done = gettext_noop("MindSpore %(version)s works on %(platform)s.")
    practice_runs = (PracticeRun({}, {"version": "2.3.0", "platform": "Ascend"}),)

    def conclude(self, finished):
        judgement = super().conclude(finished)
        if judgement.is_success and judgement.values["platform"] != "Ascend":
            return Judgement(False, gettext_noop(
                "MindSpore %(version)s runs on %(platform)s, not on Ascend."), judgement.values)
        return judgement


@register
class GpuProbe(JobKind):
    code = "env.gpu_probe"
    title = _("GPU probe")
    description = _("Reads the GPUs of a baseline machine with nvidia-smi.")
    success = _("The report names at least one GPU.")
    stages = (Stage.SURVEY,)
    needs_model = False
    timeout_seconds = 120
    usual_seconds = 5
    practice_runs = (PracticeRun({}, {"n": 2, "name": "NVIDIA A100-SXM4-80GB"}),)

    def argv(self, parameters):
        return ["nvidia-smi", "-q", "-x"]

    def conclude(self, finished: Finished) -> Judgement:
        readings = finished.of_kind("nvidia_smi")
        gpus = readings[0].values["gpus"] if readings else []
        if not gpus:
            return Judgement(False, gettext_noop("nvidia-smi listed no GPU."))
        facts = {"n": len(gpus), "name": gpus[0]["name"],
                 "driver": readings[0].values["driver_version"]}
        return Judgement(True, gettext_noop("%(n)d × %(name)s, driver %(driver)s."), facts, facts)
