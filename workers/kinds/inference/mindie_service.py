"""A MindIE service as a job: it lives as long as the job holds its cards (DOMAIN 4.5).

Fields of the configuration: MindIE 2.x, “MindIE Motor 开发指南 → 配置参数说明（服务化）”,
ModelDeployConfig and ScheduleConfig. What is left empty stays as the service's own file has it.
"""

from typing import ClassVar

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from workers.kinds.base import Parameter, register
from workers.kinds.example_runs import FREE_PORT, GoodRun, LogShows, PracticeRun
from workers.kinds.inference.held_service import HELD, HeldService
from workers.kinds.parameters import CARDS_OF_A_NODE

# parameter -> (part of config.json, its key)
CONFIGURED = {
    "max_seq_len": ("deploy", "maxSeqLen"), "max_input": ("deploy", "maxInputTokenLen"),
    "block_size": ("schedule", "cacheBlockSize"),
    "max_prefill_batch": ("schedule", "maxPrefillBatchSize"),
    "max_prefill_tokens": ("schedule", "maxPrefillTokens"),
    "max_batch": ("schedule", "maxBatchSize"), "max_iterations": ("schedule", "maxIterTimes"),
    "prefill_wait": ("schedule", "maxQueueDelayMicroseconds"),
    "npu_memory": ("model", "npuMemSize"),
}


def _field(name, label, maximum, minimum=1, help="", unit=""):
    return Parameter(name, label, "integer", minimum=minimum, maximum=maximum, is_required=False,
                     help=help, unit=unit)


CONFIGURATION = (
    _field("max_seq_len", _("Longest sequence (maxSeqLen)"), 4_194_304, unit="tokens"),
    _field("max_input", _("Longest input (maxInputTokenLen)"), 4_194_304, unit="tokens"),
    _field("block_size", _("Block of the KV cache (cacheBlockSize)"), 128,
           help=_("Tokens of one block of paged attention; 128 is the service's own value.")),
    _field("max_prefill_batch", _("Largest prefill batch (maxPrefillBatchSize)"), 100_000,
           help=_("Requests of one prefill; not more than the largest decode batch.")),
    _field("max_prefill_tokens", _("Tokens of one prefill (maxPrefillTokens)"), 4_194_304,
           help=_("At least the longest input.")),
    _field("max_batch", _("Largest decode batch (maxBatchSize)"), 100_000,
           help=_("Requests that continuous batching decodes together.")),
    _field("max_iterations", _("Most output tokens (maxIterTimes)"), 4_194_304, unit="tokens"),
    _field("prefill_wait", _("Longest wait for a batch (maxQueueDelayMicroseconds)"), 1_000_000,
           minimum=500, unit="µs"),
    _field("npu_memory", _("Memory of the KV cache (npuMemSize)"), 1024, minimum=-1, unit="GB",
           help=_("−1: computed by the service.")),
)


@register
class MindieServe(HeldService):
    code = "inf.mindie_serve"
    title = _("MindIE service")
    description = _("Starts a MindIE service for a model, asks it for its models, keeps it for the "
                    "given time, and ends it. Run the serving benchmark meanwhile.")
    success = _("The log holds “Daemon start success!”, the service answers, it did not end by "
                "itself, and an NPU is proven to have been used.")
    service = "mindie"
    collect = ("service.report.json", "config.json", "model_config.json")
    parameters: ClassVar = (
        Parameter("folder", _("Folder of the MindIE service"), "path",
                  default="/usr/local/Ascend/mindie/latest/mindie-service",
                  help=_("MIES_INSTALL_PATH; its conf/config.json is copied, never changed.")),
        Parameter("weights", _("Folder of the weights"), "path"),
        Parameter("model_name", _("Name of the model"), "name"),
        Parameter("cards", _("Cards"), "integer", default=CARDS_OF_A_NODE, minimum=1, maximum=16),
        Parameter("port", _("Port of the service"), "integer", default=1025, minimum=1024,
                  maximum=65535),
        *HELD,
        *CONFIGURATION,
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )
    good_run = GoodRun(log_shows=LogShows.DEVICE_ONLY)
    practice_runs = (PracticeRun({"folder": "~/projects/mindie-service",
                                  "weights": "~/data/weights", "model_name": "Qwen2.5", "cards": 1,
                                  "port": FREE_PORT, "hold": 1}, {"probes": 1, "answered": 1}),)

    def clean(self, values):
        p = super().clean(values)
        for low, high in (("max_prefill_batch", "max_batch"), ("max_input", "max_seq_len"),
                          ("max_input", "max_prefill_tokens")):
            if p[low] and p[high] and p[low] > p[high]:
                labels = {parameter.name: parameter.label for parameter in CONFIGURATION}
                raise InvalidInput(gettext("“%(low)s” must not exceed “%(high)s”.")
                                   % {"low": labels[low], "high": labels[high]})
        return p

    def settings(self, parameters):
        p = parameters
        config: dict[str, dict] = {}
        for name, (part, key) in CONFIGURED.items():
            if p[name] is not None:
                config.setdefault(part, {})[key] = p[name]
        return {"started": "Daemon start success!", "folder": p["folder"],
                "name": p["model_name"], "cards": p["cards"], "config": config}
