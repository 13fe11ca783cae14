"""Shell text that runs a job's command in a container, new or running, and proves its end.

The engines' options used are those that docker, podman and nerdctl have in common.
"""

import shlex
from functools import cache
from pathlib import Path

from workers.models import Node, RuntimePlace
from workers.remote import scripts
from workers.remote.scripts import quote
from workers.runtimes.chosen import Chosen

_HERE = Path(__file__).parent
SHELL = "/bin/sh"
IMAGES_OWN = "image"  # as `entry_point`: what the image itself begins with


def text(start: str, runtime: Chosen, node: Node, cards: list[int]) -> str:
    """The text of `command.sh`.

    Args:
        start: what is run inside, by bash or sh.
        cards: leased ones; without any those that a cluster's scheduler has named.
    """
    given = ",".join(map(str, cards))
    settings = {
        "place": runtime.place, "container": runtime.options.get("container", ""),
        "user": runtime.options.get("user", ""),
        "devices": runtime.options.get("devices", ""),
        "engine_words": " ".join(map(shlex.quote, shlex.split(node.container_engine))),
        "start_script": "\n".join([
            _read("cards.sh") + f"show_cards {shlex.quote(runtime.options.get('devices', ''))}",
            start]),
        "inside_script": _read("inside.sh")}
    return "\n".join([
        *(f"{name}={shlex.quote(value)}" for name, value in settings.items()),
        f"cards={shlex.quote(given)}" if given else 'cards="$ASCEND_RT_VISIBLE_DEVICES"',
        scripts.container_functions(), _read("container.sh"),
        *([" ".join(["run_new", *map(quote, shlex.split(node.container_options)),
                      *_options(runtime)]), "await_new"]
          if runtime.place == RuntimePlace.CONTAINER else ["run_inside", "await_inside"])])


def _options(runtime: Chosen) -> list[str]:
    """Words of `run` up to the image and the shell in it; a leading ~/ is the login's home."""
    options = runtime.options
    mounts = [word for mount in options.get("mounts", []) for word in ("-v", quote(mount))]
    entry = options.get("entry_point", "")
    begins = {"": ["--entrypoint", SHELL, quote(options["image"])],
              IMAGES_OWN: [quote(options["image"]), SHELL]}
    return ["--network", quote(options.get("network", "host")),
            *(["--shm-size", f"{options['shm_gb']}g"] if "shm_gb" in options else []),
            *(["--user", quote(options["user"])] if "user" in options else []),
            *mounts, *map(quote, shlex.split(options.get("run_options", ""))),
            *begins.get(entry, ["--entrypoint", quote(entry), quote(options["image"]), SHELL])]


@cache
def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
