"""The options of a Kubernetes cluster, with Volcano or without."""

import hashlib
import re
import ssl

from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from workers.schedulers.options import MINUTES, NODES, Option
from workers.schedulers.pods import chips, volumes

SERVER = re.compile(r"(https://[A-Za-z0-9_.:\[\]-]+(/[A-Za-z0-9_./-]*)?)?")
LABEL = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|")
RESOURCE = re.compile(r"[A-Za-z0-9.-]+/[A-Za-z0-9_.-]+|")
IMAGE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_./:@-]{0,500})?")
USER = re.compile(r"([0-9]{1,10}(:[0-9]{1,10})?)?")
QUANTITY = re.compile(r"([0-9]{1,6}(\.[0-9]{1,3})?(m|[KMGT]i?)?)?")
PAIRS = re.compile(r"[A-Za-z0-9_./=,:-]{0,1000}")
ANY_TEXT = re.compile(r"(?s).{0,20000}")


def require_authority(text: str) -> None:
    """Raises ValueError where the text holds no certificate."""
    try:
        ssl.create_default_context(cadata=text)
    except (ssl.SSLError, ValueError):
        raise ValueError(_("that is not a PEM certificate.")) from None


def fingerprints(text: str) -> str:
    """SHA-256 of each certificate in PEM."""
    return "\n".join(
        f"SHA-256 {hashlib.sha256(ssl.PEM_cert_to_DER_cert(found)).hexdigest()}"
        for found in re.findall(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", text,
                                re.DOTALL))


def pairs(text: str) -> dict[str, str]:
    """`name=value` between commas. Raises ValueError for anything else."""
    found = [part.partition("=") for part in text.split(",") if part]
    if not all(name and mark for name, mark, _value in found):
        raise ValueError(_("name=value is expected, separated by commas."))
    return {name: value for name, _mark, value in found}


def tolerations(text: str) -> list[dict[str, str]]:
    """`key=value:Effect`, value and effect being optional, between commas."""
    found = []
    for part in filter(None, text.split(",")):
        key, mark, rest = part.partition("=")
        value, _colon, effect = rest.partition(":") if mark else ("", "", "")
        if not mark:
            key, _colon, effect = key.partition(":")
        wanted = {"key": key, "operator": "Equal" if mark else "Exists", "value": value,
                  "effect": effect}
        found.append({name: text for name, text in wanted.items() if text})
    return found


AUTHORITY = Option("authority", gettext_lazy("Certificate of its authority"), gettext_lazy(
    "In PEM, as in certificate-authority-data once it is decoded. Empty: the authorities that "
    "this server trusts."), pattern=ANY_TEXT, check=require_authority, rows=3,
    shown=fingerprints)
OPTIONS = (
    Option("server", gettext_lazy("Address of the API server"), gettext_lazy(
        "As kubectl config view shows it: https://10.0.0.1:6443. The desk itself asks it."),
        pattern=SERVER, is_required=True),
    AUTHORITY,
    Option("namespace", gettext_lazy("Namespace"), initial="default", pattern=LABEL),
    Option("image", gettext_lazy("Image"), gettext_lazy(
        "For jobs whose runtime names none. It needs a POSIX shell, and best a digest: "
        "registry/name@sha256:…"), pattern=IMAGE, is_required=True),
    Option("resource", gettext_lazy("Cards as a resource"), format_lazy(
        "{} {}", gettext_lazy("As the device plugin counts them:"),
        "; ".join(f"{chip}: {name}" for chip, name in chips.RESOURCES.items())),
        initial=chips.DEFAULT, pattern=RESOURCE),
    Option("volumes", gettext_lazy("Volumes"), gettext_lazy(
        "One per line: pvc:CLAIM:/inside, nfs:SERVER:/export:/inside or host:/on/nodes:/inside, "
        "and :ro where it is only read. The scratch folder lies below one of them, under the same "
        "path as on the log-in node."), pattern=ANY_TEXT, check=volumes.parsed, rows=3,
        is_required=True),
    Option("run_as", gettext_lazy("User and group inside"), gettext_lazy(
        "Numbers, as 1000:1000: those of the log-in on the shared storage. Empty: the image's."),
        pattern=USER),
    Option("cpu", gettext_lazy("Processors per pod"), gettext_lazy("As 16 or 500m."),
           pattern=QUANTITY),
    Option("memory", gettext_lazy("Memory per pod"), gettext_lazy(
        "As 64Gi; a job that takes more is ended."), pattern=QUANTITY),
    Option("shm_gb", gettext_lazy("Shared memory (GB)"), initial=0, most=4096),
    Option("host_network", gettext_lazy("Network of the host (0 or 1)"), gettext_lazy(
        "1: for HCCL over the cards' own ports where the cluster wants it."), initial=0, most=1),
    Option("selector", gettext_lazy("Node selector"), gettext_lazy(
        "Separated by commas: host-arch=huawei-arm,accelerator-type=module-910b-8"),
        pattern=PAIRS, check=pairs),
    Option("tolerations", gettext_lazy("Tolerations"), gettext_lazy(
        "Separated by commas: npu=only:NoSchedule"), pattern=PAIRS, check=tolerations),
    Option("labels", gettext_lazy("Labels of jobs and pods"), gettext_lazy(
        "Separated by commas: ring-controller.atlas=ascend-910b"), pattern=PAIRS, check=pairs),
    Option("pull_secret", gettext_lazy("Image pull secret"), pattern=LABEL),
    Option("service_account", gettext_lazy("Service account of pods"), pattern=LABEL),
    Option("priority_class", gettext_lazy("Priority class"), pattern=LABEL),
    Option("keep_hours", gettext_lazy("Hours to keep ended jobs in the cluster"), gettext_lazy(
        "0: a day."), initial=0, most=8760),
    MINUTES,
)
VOLCANO_OPTIONS = (*OPTIONS, NODES, Option("queue", gettext_lazy("Queue"), pattern=LABEL))
