"""The settings that a run was started with, and those that it printed or recorded itself."""

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from django.db.models import Q

from engagements.remembered_reads import remembered
from toolreaders.masking import mask_tree
from workers.models import Artifact, Job, StoredReading

SHELLS = ("bash", "sh")  # whose texts name options as a command does
ASSIGNED = re.compile(r"^([A-Za-z_]\w*)=(.*)$", re.DOTALL)
USED = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
OPERATORS = {";", "&", "&&", "|", "||", "(", ")", ">", ">>", "<", "2>&1"}
PRINTED = ("training_log", "training_arguments", "config_check")


def run_settings(job: Job) -> dict[str, str]:
    """Of its form, else `--name value` of its command, else of a shell script that somebody typed
    in. What looks like a secret is masked."""
    parameters = job.parameters or {}
    typed = parameters.get("script") if parameters.get("interpreter") in SHELLS else ""
    given = {name: str(value) for name, value in parameters.items()
             if isinstance(value, str | int | float) and value != ""}
    return mask_tree({**_of_script(str(typed or "")),
                      **dict(_options([str(word) for word in job.command])), **given})


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Each option with its value, in their order; a switch is "true"."""
    for word, following in pairwise([*words, "--"]):
        if len(word) > 2 and word.startswith("--"):
            name, sign, value = word.removeprefix("--").partition("=")
            is_switch = following.startswith("--") or following in OPERATORS
            yield name.replace("-", "_"), value if sign else "true" if is_switch else following


def _of_script(text: str) -> dict[str, str]:
    """The options that a shell script names with one value; what only the shell knows is left
    out, and so is an option that the script gives twice in different ways."""
    lines = text.replace("\\\n", " ").replace("\n", "\n ; ")
    words = shlex.shlex(lines, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    try:
        found = list(words)
    except ValueError:  # a quotation without end
        return {}
    variables = _single(match.groups() for word in found if (match := ASSIGNED.match(word)))
    filled = [USED.sub(lambda used: variables.get(used[1], used[0]), word) for word in found]
    return {name: value for name, value in _single(_options(filled)).items()
            if not re.search(r"[$`]", value)}


def _single(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    values: dict[str, set[str]] = defaultdict(set)
    for name, value in pairs:
        values[name].add(value)
    return {name: found.pop() for name, found in values.items() if len(found) == 1}


@remembered
def recorded_settings(artifact: Artifact, job: Job | None) -> dict[str, str]:
    """What a run itself holds: its command, over that the arguments that its program printed and
    the configuration pack that it wrote. Of what its files disagree nothing is known.

    Args:
        artifact: the file that the run is judged by.
        job: that made it.
    """
    return recorded_settings_of_each([(artifact, job)])[artifact.pk]


def recorded_settings_of_each(
        runs: Sequence[tuple[Artifact, Job | None]]) -> dict[int, dict[str, str]]:
    """The same of several runs by the keys of their files, in one query."""
    jobs = [job for _artifact, job in runs if job]
    rows = list(StoredReading.objects.filter(
        Q(artifact__in=[artifact for artifact, _job in runs]) | Q(artifact__job__in=jobs),
        kind__in=PRINTED).values_list("artifact", "artifact__job", "values"))
    return {artifact.pk: _recorded(job, [
        pair for file, maker, values in rows
        if file == artifact.pk or (job and maker == job.pk) for pair in _printed(values)])
        for artifact, job in runs}


def _recorded(job: Job | None, printed: list[tuple[str, str]]) -> dict[str, str]:
    known = run_settings(job) if job else {}
    return {name: value for name, value in known.items() if name not in dict(printed)
            } | _single(printed)


def _printed(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    packs = values.get("hyperparameters") if values.get("form") == "pack" else None
    for found in (values.get("arguments"), *(packs or {}).values()):
        for name, value in found.items() if isinstance(found, dict) else ():
            if isinstance(value, str | int | float):
                yield str(name).lstrip("-").replace("-", "_"), str(value)
