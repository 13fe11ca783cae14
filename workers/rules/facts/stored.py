"""Facts from stored readings: of a node, of a model, of a job or an uploaded file."""

from collections.abc import Callable, Iterable
from typing import Any

from django.db.models import Max, Q

from engagements.models import MigratedModel
from engagements.stages import Scope
from workers.models import Artifact, JobState, Node, StoredReading
from workers.rules import Facts, Origin
from workers.rules.facts.base import Seen, observed, observed_kinds

OF_NODE = ("env.npu_info", "env.host_probe", "env.torch_check", "env.software",
           "env.cann_install", "env.hdk_install", "env.mindspeed_install")
OF_CARDS = ("env.npu_info", "env.hdk_install")
OF_MODEL = ("config_check", "onnx_model", "model_config", "quantization", "accuracy_compare",
            "source_scan", "parallel_strategy")
SOFTWARE = {"driver": "hdk"}  # names of Node.software that differ from the facts'

Provider = Callable[[MigratedModel], dict[str, Any]]
_providers: list[Provider] = []


def register_provider(provider: Provider) -> Provider:
    """Decorator: further facts of a model, from a higher app."""
    _providers.append(provider)
    return provider


def of_readings(readings: Iterable[StoredReading]) -> Facts:
    """Facts of readings with their artifacts, newest first: the newer of two counts."""
    facts = Facts()
    for stored in readings:
        seen = Seen(stored.kind, stored.artifact.name, stored.values, stored.warnings)
        _take_seen(facts, seen, stored.artifact_id)
    return facts


def of_seen(seen: Seen) -> Facts:
    """Facts of one reading that is not stored."""
    facts = Facts()
    _take_seen(facts, seen)
    return facts


def _take_seen(facts: Facts, seen: Seen, artifact: int | None = None) -> None:
    for found in observed(seen):
        name = ": ".join(filter(None, (seen.name, found.inside)))
        _take(facts, found, Origin(name, found.line, artifact))


def _take(facts: Facts, found, origin: Origin) -> None:
    """Lists of steps and ranks add up over files, counts of errors keep the worst."""
    known = facts.get(found.name)
    if known is None:
        facts[found.name], facts.origins[found.name] = found.value, origin
    elif found.name in ("dump_steps", "dump_ranks"):
        facts[found.name] = sorted({*known, *found.value}, key=str)
    elif found.name == "nonfinite_losses" and found.value > known:
        facts[found.name], facts.origins[found.name] = found.value, origin


def of_node(node: Node | None, runtime: int | None = None) -> Facts:
    """What was last read of a node; nothing is asked of it. Without readings, its row.

    Args:
        runtime: key of one whose software counts instead of the node's own.
    """
    if node is None:
        return Facts()
    if runtime is None:
        own = Q(runtime__id__isnull=True) | Q(runtime__id=None)
        return _clones(node, own).over(_newest(node, OF_NODE, own)).over(_of_row(node))
    own = Q(runtime__id=runtime)
    inside = _clones(node, own).over(_newest(node, OF_NODE, own))
    return inside.over(_newest(node, OF_CARDS, Q())).over(_of_row(node, with_software=False))


def _newest(node: Node, kinds: Iterable[str], which: Q) -> Facts:
    """Facts of the last job of each kind."""
    jobs = node.jobs.filter(which, kind__in=kinds, artifacts__readings__isnull=False)
    newest = jobs.order_by().values("kind").annotate(last=Max("pk")).values("last")
    return of_readings(_with_artifacts(StoredReading.objects.filter(artifact__job__in=newest)))


def _clones(node: Node, which: Q) -> Facts:
    """Branches that the last installation of MindSpeed and Megatron-LM checked out, and where."""
    job = node.jobs.filter(which, kind="env.mindspeed_install", state=JobState.SUCCEEDED).order_by(
        "-pk").first()
    if job is None:
        return Facts()
    given = job.parameters
    facts = Facts(mindspeed=given["mindspeed_branch"], megatron=given["megatron_branch"],
                  megatron_folder=f"{given['folder'].rstrip('/')}/Megatron-LM/")
    facts.origins.update({name: Origin(f"{node.name} #{job.pk}") for name in facts})
    return facts


def _with_artifacts(readings):
    return readings.filter(kind__in=observed_kinds()).select_related("artifact").order_by("-pk")


def _of_row(node: Node, with_software: bool = True) -> Facts:
    """What the node's own row says: versions as last read, cards, what an operator entered.

    Without its software the driver remains, which all runtimes share.
    """
    software = {SOFTWARE.get(name, name): value for name, value in (node.software or {}).items()
                if isinstance(value, str) and value and (with_software or name == "driver")}
    facts = Facts(software, cards_per_node=node.cards_total)
    cards = [card for card in node.cards.all() if card.health]
    if cards:
        facts["chips"] = [{"npu": card.npu_id, "health": card.health} for card in cards]
        facts["chip"] = cards[0].chip_name or None
    if node.set_env and with_software:
        facts["is_set_env_sourced"] = True
    if node.labels:
        facts["product"] = node.labels
    facts.origins.update({name: Origin(node.name) for name in facts})
    return facts


def of_model(model: MigratedModel | None) -> Facts:
    """What was last read for a model, and what higher apps know of it."""
    if model is None:
        return Facts()
    newest = StoredReading.objects.filter(
        artifact__model=model, kind__in=OF_MODEL).order_by().values("kind").annotate(
        last=Max("pk")).values("last")
    facts = of_readings(_with_artifacts(StoredReading.objects.filter(pk__in=newest)))
    given: dict[str, Any] = {"is_weights_deliverable": model.scope != Scope.INFERENCE}
    if model.parameters_billion:
        given["parameters_billion"] = float(model.parameters_billion)
    for provider in _providers:
        given |= provider(model)
    origins = {name: Origin(model.code) for name in given}
    return facts.over(Facts(given, origins=origins))


def of_artifacts(artifacts: Iterable[Artifact]) -> Facts:
    """Facts of the files of one job, or of one uploaded file."""
    files = list(artifacts)
    readings = StoredReading.objects.filter(artifact__in=[file.pk for file in files])
    return of_readings(_with_artifacts(readings)).over(_json_files(files))


MOST_BYTES = 1 << 20


def _json_files(files: list[Artifact]) -> Facts:
    """Texts of JSON files that could not be read (R-CFG-22); none where all could."""
    named = [file for file in files if file.name.lower().endswith(".json")]
    damaged = [file for file in named
               if file.note.startswith("damaged_json") and file.size <= MOST_BYTES]
    if not named:
        return Facts()
    texts = {file.name: _text(file) for file in damaged}
    origin = {"json_configs": Origin(damaged[0].name, None, damaged[0].pk)} if damaged else {}
    return Facts({"json_configs": texts}, origins=origin)


def _text(file: Artifact) -> str:
    with file.file.open("rb") as stream:
        return stream.read(MOST_BYTES).decode("utf-8", "replace")
