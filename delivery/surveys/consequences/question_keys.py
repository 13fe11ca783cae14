"""Keys of the questions that something follows from: a version without one loses that."""

FOLLOWED = frozenset({
    "access", "accuracy_publication", "accuracy_source", "accuracy_value", "arch", "betas", "cann",
    "cleaning_done", "clip_grad", "code_origin", "custom_ops", "custom_ops_list", "dataset",
    "deadline", "dvpp", "dynamic_shape", "first_token", "framework", "framework_version",
    "global_batch", "gpu_software", "gpu_type", "hosting", "hyper", "latency", "learning_rate",
    "libraries", "loss_curve", "lr_schedule", "micro_batch", "mindie_image", "mixed_way",
    "model_count", "model_format",
    "model_scope", "network", "optimiser", "os", "parallel", "parameters", "peak_memory",
    "performance_publication", "performance_source", "precision", "procurement", "quantisation",
    "repeats", "risks", "scope", "seed", "sequence", "special_apis", "step_time", "storage",
    "throughput", "token_latency", "token_throughput", "train_cards", "train_nodes", "warmup",
    "warmup_unit", "weight_decay"})
