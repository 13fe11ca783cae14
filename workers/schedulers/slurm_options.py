"""The options of a Slurm cluster: how jobs are handed to sbatch."""

import re
import shlex

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from workers.schedulers.options import FOLDER, MINUTES, NODES, Option

# Of `sbatch`: each would break a promise of ours, such as one job by one name, run once.
OURS = ("--job-name", "-J", "--array", "-a", "--requeue", "--wrap", "--parsable", "--output", "-o",
        "--error", "-e", "--input", "-i", "--chdir", "-D", "--wait", "-W", "--test-only", "--gres",
        "--time", "-t", "--nodes", "-N")
ANY_LINE = re.compile(r"[^\n\0]{0,400}")


def require_words(text: str) -> None:
    """Raises ValueError for words that sbatch would not take or that break a promise."""
    try:
        words = shlex.split(text)
    except ValueError:
        raise ValueError(_("a quotation mark is not closed.")) from None
    for word in words:
        name = word.partition("=")[0]
        short = name[:2] if not name.startswith("--") else name
        if not word.startswith("-") or name in OURS or short in OURS:
            raise ValueError(_("The desk itself sets “%(word)s” of sbatch, or it is no option; "
                               "values follow an equals sign.") % {"word": word})


OPTIONS = (
    Option("partition", gettext_lazy("Partition")),
    Option("account", gettext_lazy("Account")),
    Option("qos", gettext_lazy("Quality of service")),
    Option("gres", gettext_lazy("Name of the cards as a resource"),
           gettext_lazy("As the cluster calls them: npu, or npu:910b."), initial="npu"),
    NODES, MINUTES,
    Option("words", gettext_lazy("More options for sbatch"), gettext_lazy(
        "As in a shell, for example --exclusive --constraint=910b"),
        pattern=ANY_LINE, check=require_words),
    Option("programs", gettext_lazy("Folder of the scheduler's commands"), gettext_lazy(
        "Where log-in shells without a terminal do not find them; for example "
        "/opt/slurm/bin"), pattern=FOLDER),
)
