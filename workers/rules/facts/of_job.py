"""Facts of a job: its parameters, its environment variables and what is known of the node.

Facts carry the field's names (tp, gbs, train_iters); ALIASES says which parameter or training
argument gives which fact. What is not known is left out, so that its rules are not checked.
"""

from collections.abc import Iterable, Mapping
from typing import Any

ALIASES: Mapping[str, str] = {
    "tensor_parallel": "tp", "tensor_model_parallel_size": "tp",
    "pipeline_parallel": "pp", "pipeline_model_parallel_size": "pp",
    "context_parallel": "cp", "context_parallel_size": "cp",
    "micro_batch_size": "mbs", "global_batch_size": "gbs",
    "num_layers": "num_layers", "num_layers_per_virtual_pipeline_stage":
        "layers_per_virtual_stage", "layers_per_virtual_stage": "layers_per_virtual_stage",
    "num_attention_heads": "num_heads", "attention_heads": "num_heads",
    "hidden_size": "hidden_size", "data_path": "data_path", "dataset": "data_path",
    "train_iters": "train_iters", "eval_interval": "eval_interval", "save_interval":
        "save_interval", "save": "save", "split": "split",
    "learning_rate": "peak_lr", "lr": "peak_lr", "min_lr": "final_lr",
    "min_learning_rate": "final_lr", "warmup_fraction": "warmup_fraction",
    "lr_warmup_fraction": "warmup_fraction", "lr_warmup_iters": "warmup_steps",
    "clip_grad": "clip_grad", "weight_decay": "weight_decay",
    "optimizer": "optimizer", "num_workers": "num_workers", "nproc_per_node": "cards",
    "weight_file": "weight_file", "seq_length": "seq_length", "init_std": "init_std",
    "init_method_std": "init_std", "rampup_batch_size": "batch_growth",
    "framework": "framework", "model_file": "model_file", "soc_version": "soc_version",
    "opset": "opset", "cards": "cards", "memory_fraction": "memory_fraction",
}
NUMBERS = frozenset({"world_size", "tp", "pp", "cp", "mbs", "gbs", "num_layers",
                     "layers_per_virtual_stage", "num_heads", "hidden_size", "train_iters",
                     "seq_length", "eval_interval", "save_interval", "warmup_steps",
                     "num_workers", "opset", "cards"})
DECIMALS = frozenset({"peak_lr", "final_lr", "clip_grad", "weight_decay", "memory_fraction",
                      "warmup_fraction", "init_std"})
ASD = ("NPU_ASD_ENABLE", "NPU_ASD_CONFIG")


def facts_of_job(parameters: Mapping[str, Any], environment: Mapping[str, str],
                 declared: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Facts for `workers.rules.check`.

    Args:
        parameters: cleaned values of the kind; `extra` holds further command-line arguments.
        environment: variables the job sets.
        stated: what the kind itself says of these parameters, as from `JobKind.facts`.
    """
    facts: dict[str, Any] = dict(environment)
    given = {**parameters, **_arguments(words_of(parameters.get("extra")))}
    for name, value in given.items():
        fact = ALIASES.get(name)
        if fact == "framework" and not str(value).isdigit():
            continue  # a name, as MindSpore Lite takes it; ATC's are numbers
        if fact and value not in (None, ""):
            facts[fact] = typed(fact, value)
    facts |= declared or {}
    if any(environment.get(name) for name in ASD):
        facts["asd_variables"] = {name: environment.get(name) for name in ASD}
    if isinstance(facts.get("cards"), int) and facts["cards"] > 0:
        facts["world_size"] = facts["cards"] * int(parameters.get("nodes") or 1)
        facts["cards_required"] = facts["cards"]
    return facts


def parameters_of(fact_names: Iterable[str], parameters: Iterable[str]) -> list[str]:
    """The parameters, of those given, from which facts came."""
    wanted = {"cards" if name == "world_size" else name for name in fact_names}
    return [name for name in parameters if ALIASES.get(name) in wanted]


def words_of(given: Any) -> list[str]:
    """Further arguments as jobs hold them: a list; those of earlier releases a text."""
    return given if isinstance(given, list) else str(given or "").split()


def _arguments(words: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for index, word in enumerate(words):
        if not word.startswith("--"):
            continue
        name, sign, value = word[2:].partition("=")
        following = words[index + 1] if index + 1 < len(words) else "--"
        found[name.replace("-", "_")] = value if sign else (
            True if following.startswith("--") else following)
    return found


def typed(fact: str, value: Any) -> Any:
    """The value as the rules expect it; as it is where it cannot be read so."""
    try:
        if fact in NUMBERS:
            return int(value)
        return float(value) if fact in DECIMALS else value
    except (TypeError, ValueError):
        return value  # the rule says that it cannot be read
