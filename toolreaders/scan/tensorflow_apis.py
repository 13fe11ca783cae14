"""TensorFlow and Horovod interfaces that a migration has to replace, as data.

Deprecated: what TensorFlow 2.6 marks so in `tf.compat.v1` (API documentation of r2.6); the
converter reports it as a class of its own (seed 000, `tf.compat.v1.layers.conv3d`). Horovod: the
converter does not support its collectives (seed 000, `hvd.allreduce`); Ascend's TensorFlow
adapter has its own (migration guide: hccl_ops, npu_distributed_optimizer_wrapper, get_rank_id).
"""

TPU = (
    "distribute.TPUStrategy", "distribute.experimental.TPUStrategy", "tpu", "compat.v1.tpu",
    "compat.v1.estimator.tpu",
)
REMOVED = ("contrib",)  # gone with TensorFlow 2
DEPRECATED_IN_V1 = (
    "layers",
    "nn.rnn_cell", "nn.dynamic_rnn", "nn.static_rnn", "nn.bidirectional_dynamic_rnn",
    "nn.static_bidirectional_rnn", "nn.static_state_saving_rnn",
    "nn.softmax_cross_entropy_with_logits",
    "train.Supervisor", "train.QueueRunner", "train.start_queue_runners", "train.add_queue_runner",
    "train.batch", "train.batch_join", "train.shuffle_batch", "train.shuffle_batch_join",
    "train.maybe_batch", "train.maybe_shuffle_batch", "train.input_producer",
    "train.string_input_producer", "train.slice_input_producer", "train.range_input_producer",
    "train.limit_epochs",
    "initialize_all_variables", "initialize_variables", "initialize_local_variables",
    "initialize_all_tables", "all_variables",
    "to_float", "to_double", "to_int32", "to_int64", "to_bfloat16", "to_complex64",
    "to_complex128",
    "arg_max", "arg_min", "div", "sparse_to_dense", "batch_gather", "sparse_merge",
    "saved_model.simple_save", "saved_model.build_tensor_info", "test.compute_gradient",
    "test.compute_gradient_error",
)
# TensorFlow 2 has these too, and they are not deprecated there.
ALSO_IN_V2 = frozenset({"nn.softmax_cross_entropy_with_logits", "test.compute_gradient"})
DEPRECATED = (
    *(f"tensorflow.{name}" for name in (*TPU, *REMOVED)),
    *(f"tensorflow.compat.v1.{name}" for name in DEPRECATED_IN_V1),
    *(f"tensorflow.{name}" for name in DEPRECATED_IN_V1 if name not in ALSO_IN_V2),
)
# Interfaces that Ascend's TensorFlow adapter has a faster approximation of (“Replacing the GELU
# activation function”, TensorFlow 2.6.5 migration guide, 8.5.0; tf.gelu: converter of TF 1.15).
GELU = ("tensorflow.nn.gelu", "tensorflow.keras.activations.gelu", "tensorflow.gelu",
        "tensorflow_addons.activations.gelu", "keras.activations.gelu")
HOROVOD = tuple(
    f"horovod.{package}.{name}" for package in ("tensorflow", "tensorflow.keras", "keras")
    for name in ("allreduce", "grouped_allreduce", "allgather", "broadcast", "alltoall",
                 "broadcast_variables", "broadcast_global_variables", "DistributedOptimizer",
                 "DistributedGradientTape", "BroadcastGlobalVariablesHook"))
