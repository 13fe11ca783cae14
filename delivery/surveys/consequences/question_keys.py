"""Keys of the questions that something follows from: a version without one loses that."""

FOLLOWED = frozenset({
    "access", "accuracy_value", "arch", "cann", "code_origin", "custom_ops", "custom_ops_list",
    "dataset", "deadline", "dvpp", "dynamic_shape", "framework", "framework_version",
    "global_batch", "gpu_software", "gpu_type", "hosting", "hyper", "latency", "libraries",
    "loss_curve", "model_count", "model_format", "model_scope", "network", "os", "parallel",
    "parameters", "peak_memory", "precision", "procurement", "quantisation", "repeats", "risks",
    "scope", "sequence", "special_apis", "step_time", "storage", "throughput", "train_cards",
    "train_nodes"})
