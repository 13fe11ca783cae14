"""The options of ModelArts."""

import re

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from workers.schedulers.options import MINUTES, NODES, Option
from workers.schedulers.pods.pod_options import ANY_TEXT, AUTHORITY, IMAGE, SERVER

IDENTIFIER = re.compile(r"[A-Za-z0-9_.-]{0,128}")


def mounts(text: str) -> list[dict]:
    """`SERVER:/export:/inside` of each line, as the API names them.

    Raises ValueError with a sentence that quotes the line.
    """
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        server, export, inside = [*line.split(":"), "", "", ""][:3]
        if not server or not export.startswith("/") or not inside.startswith("/") \
                or line.count(":") != 2:
            raise ValueError(_("“%(line)s” is not a mount; a line reads SERVER:/export:/inside.")
                             % {"line": line})
        found.append({"nfs_server_path": f"{server}:{export}", "local_path": inside,
                      "read_only": False})
    return found


OPTIONS = (
    Option("endpoint", gettext_lazy("Address of ModelArts"), gettext_lazy(
        "Of the region: https://modelarts.cn-north-4.myhuaweicloud.com. The desk itself asks it."),
        pattern=SERVER, is_required=True),
    AUTHORITY,
    Option("project", gettext_lazy("Project ID"), pattern=IDENTIFIER, is_required=True),
    Option("access_key", gettext_lazy("Access key (AK)"), gettext_lazy(
        "Its secret key is the secret of the cluster."), pattern=IDENTIFIER, is_required=True),
    Option("workspace", gettext_lazy("Workspace"), pattern=IDENTIFIER),
    Option("pool", gettext_lazy("Dedicated resource pool"), gettext_lazy(
        "Its ID. Empty: the public pool."), pattern=IDENTIFIER),
    Option("flavor", gettext_lazy("Specification"), gettext_lazy(
        "Its ID, where {cards} stands for the job's number of cards: modelarts.bm.npu.arm."
        "{cards}snt9b"), pattern=re.compile(r"[A-Za-z0-9_.{}-]{0,128}"), is_required=True),
    Option("ma_image", gettext_lazy("Image in SWR"), gettext_lazy(
        "For jobs whose runtime names none: organisation/name:tag"), pattern=IMAGE,
        is_required=True),
    Option("mounts", gettext_lazy("SFS Turbo"), gettext_lazy(
        "One per line: SERVER:/export:/inside. The scratch folder lies below one of them, under "
        "the same path as on the log-in node."), pattern=ANY_TEXT, check=mounts, rows=2,
        is_required=True),
    Option("ma_priority", gettext_lazy("Priority (1 to 3)"), gettext_lazy(
        "In a dedicated pool; 0: its default."), initial=0, most=3),
    NODES, MINUTES,
)
