"""Parameters of a Megatron / MindSpeed training and the options they become (DOMAIN 4.2, 4.7)."""

from django.utils.translation import gettext_lazy as _

from workers.kinds.base import Parameter
from workers.kinds.parameters import CARDS_OF_A_NODE
from workers.kinds.training.megatron_features import FEATURES, FLAGS, MODEL_DETAILS, NAMED

STRATEGY = (
    Parameter("cards", _("Cards"), "integer", default=CARDS_OF_A_NODE, minimum=1, maximum=16,
              help=_("Processes on this node, one per card.")),
    Parameter("nodes", _("Number of nodes"), "integer", default=1, minimum=1, maximum=4096,
              help=_("DP = nodes × cards ÷ (TP × PP × CP)")),
    Parameter("node_rank", _("Rank of this node"), "integer", default=0, minimum=0, maximum=4095),
    Parameter("master_address", _("Address of the first node"), "name", default="127.0.0.1",
              help=_("All nodes must reach it; 127.0.0.1 for one node only.")),
    Parameter("master_port", _("Port of the first node"), "integer", default=6001, minimum=1024,
              maximum=65535),
    Parameter("tensor_parallel", _("Tensor parallel size (TP)"), "integer", default=2,
              minimum=1, maximum=64, help=_("At most the cards of one node.")),
    Parameter("pipeline_parallel", _("Pipeline parallel size (PP)"), "integer", default=2,
              minimum=1, maximum=64),
    Parameter("context_parallel", _("Context parallel size (CP)"), "integer", default=1,
              minimum=1, maximum=64),
    Parameter("expert_parallel", _("Expert parallel size (EP)"), "integer", default=1,
              minimum=1, maximum=64),
    Parameter("layers_per_virtual_stage", _("Layers per virtual stage"), "integer", minimum=1,
              maximum=128, is_required=False, help=_("Empty: no interleaved pipeline.")),
    Parameter("sequence_parallel", _("Sequence parallelism"), "flag", default=False),
    Parameter("distributed_optimizer", _("Distributed optimizer (ZeRO-1)"), "flag",
              default=False),
)
SCHEDULE = (
    Parameter("train_iters", _("Iterations"), "integer", default=200, minimum=1,
              maximum=10_000_000),
    Parameter("micro_batch_size", _("Micro batch size"), "integer", default=1, minimum=1,
              maximum=4096, unit="samples", help=_("Per DP rank, per step")),
    Parameter("global_batch_size", _("Global batch size"), "integer", default=16, minimum=1,
              maximum=1_000_000, unit="samples",
              help=_("A multiple of micro batch size × DP.")),
    Parameter("seq_length", _("Sequence length"), "integer", default=1024, minimum=16,
              maximum=1_048_576, unit="tokens"),
    Parameter("seed", _("Seed"), "integer", default=1234, minimum=1, maximum=2**31 - 1,
              help=_("The same as on the GPU side, or the curves cannot be compared.")),
    Parameter("learning_rate", _("Peak learning rate"), "number", default=1e-4, minimum=0,
              maximum=1, help=_("At most 1e-4 is usual for language models.")),
    Parameter("min_learning_rate", _("Final learning rate"), "number", minimum=0, maximum=1,
              is_required=False, help=_("About a tenth of the peak is usual.")),
    Parameter("warmup_fraction", _("Warm-up (fraction of the iterations)"), "number", minimum=0,
              maximum=1, is_required=False, help=_("0.001 to 0.005 is usual.")),
    Parameter("weight_decay", _("Weight decay"), "number", minimum=0, maximum=1,
              is_required=False),
    Parameter("clip_grad", _("Gradient clipping"), "number", minimum=0, maximum=1000,
              is_required=False),
    Parameter("precision", _("Data type"), "choice", default="bf16",
              choices=("bf16", "fp16", "fp32")),
    Parameter("eval_interval", _("Evaluation interval"), "integer", minimum=1,
              maximum=10_000_000, is_required=False, unit="iterations"),
    Parameter("save_interval", _("Saving interval"), "integer", minimum=1, maximum=10_000_000,
              is_required=False, unit="iterations", help=_("Empty: saved once, at the end.")),
    Parameter("load", _("Resumed from the checkpoints in"), "path", is_required=False,
              help=_("Empty: from the first weights.")),
    Parameter("skip_iterations", _("Iterations whose data are skipped"), is_required=False,
              help=_("Numbers and ranges such as 120,130-134, for example of a loss spike; "
                     "--iterations-to-skip, Megatron-LM from core_r0.12.0 on.")),
    Parameter("save", _("Folder of the checkpoints"), "path", default="checkpoints",
              help=_("A name without “/” lies in the job's folder, which is removed later.")),
)
MODEL = (
    Parameter("num_layers", _("Layers"), "integer", minimum=1, maximum=1000, is_required=False),
    Parameter("hidden_size", _("Hidden size"), "integer", minimum=8, maximum=131_072,
              is_required=False),
    Parameter("attention_heads", _("Attention heads"), "integer", minimum=1, maximum=1024,
              is_required=False),
    Parameter("position_embeddings", _("Longest position"), "integer", minimum=16,
              maximum=1_048_576, is_required=False, unit="tokens"),
    Parameter("data_path", _("Data (beginning of .bin and .idx)"), "path", is_required=False,
              help=_("What the preprocessing wrote, for example ~/corpus/alpaca_text_document.")),
    Parameter("split", _("Split of training, validation and test"), is_required=False,
              help=_("For example 990,5,5.")),
    Parameter("vocabulary", _("Vocabulary file"), "path", is_required=False),
    Parameter("merges", _("Merge file"), "path", is_required=False),
)
NODE = (
    Parameter("allocator", "PYTORCH_NPU_ALLOC_CONF", is_required=False,
              help=_("For example expandable_segments:True")),
    Parameter("hccl_buffer_mb", "HCCL_BUFFSIZE", "integer", minimum=1, maximum=65_536,
              is_required=False, unit="MB", help=_("200 where it is not set.")),
    Parameter("memory_reuse", "MULTI_STREAM_MEMORY_REUSE", "flag", default=False),
    Parameter("extra", _("Further arguments"), "words", is_required=False),
)
PARAMETERS = (
    Parameter("script", _("Training script"), "path", default="~/Megatron-LM/pretrain_gpt.py",
              help=_("With MindSpeed it imports mindspeed.megatron_adaptor after torch.")),
    *STRATEGY, *SCHEDULE, *MODEL, *MODEL_DETAILS, *FEATURES, *NODE,
)
OPTIONS = {
    "train_iters": "train-iters", "micro_batch_size": "micro-batch-size",
    "global_batch_size": "global-batch-size", "seq_length": "seq-length", "seed": "seed",
    "learning_rate": "lr", "min_learning_rate": "min-lr",
    "warmup_fraction": "lr-warmup-fraction", "weight_decay": "weight-decay",
    "clip_grad": "clip-grad", "tensor_parallel": "tensor-model-parallel-size",
    "pipeline_parallel": "pipeline-model-parallel-size",
    "context_parallel": "context-parallel-size", "expert_parallel": "expert-model-parallel-size",
    "layers_per_virtual_stage": "num-layers-per-virtual-pipeline-stage",
    "num_layers": "num-layers", "hidden_size": "hidden-size",
    "attention_heads": "num-attention-heads", "position_embeddings": "max-position-embeddings",
    "data_path": "data-path", "split": "split", "vocabulary": "vocab-file",
    "merges": "merge-file", "eval_interval": "eval-interval", "load": "load", "save": "save",
    **NAMED,
}
SWITCHES = {"sequence_parallel": "sequence-parallel",
            "distributed_optimizer": "use-distributed-optimizer", **FLAGS}
