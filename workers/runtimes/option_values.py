"""What the options of a runtime may hold: each check gives the stored value of what was given.

They raise ValueError with a sentence.
"""

import re
import shlex
from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _

from toolreaders.masking import is_secret_name, mask_text
from toolreaders.number_parsing import whole_number

PATH = re.compile(r"(~|~?(/[^/\0\n]+)+)/?")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
UMASK = re.compile(r"0?[0-7]{3}")
PROXY = re.compile(r"(https?|socks5h?)://[^\s/]+/?")
MOST_LINES, LONGEST = 40, 2000
OURS = ("DESK_JOB", "DESK_WORK")  # by these a job's processes and folder are found
ENGINE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
INSIDE_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?")
IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:@-]{0,500}")
# Of `run`: by these a container starts once, is found again, and its end is its processes' end.
OURS_OF_RUN = ("--name", "-d", "--detach", "--rm", "--restart", "--pid", "--entrypoint", "-w",
               "--workdir", "-i", "--interactive", "-t", "--tty", "-it", "-ti", "--cidfile",
               "--network", "--net", "--user", "-u", "--shm-size")


def lines(value: Any) -> list[str]:
    """Lines that hold something, stripped."""
    given = value.splitlines() if isinstance(value, str) else [str(line) for line in value]
    found = [line.strip() for line in given if line.strip()]
    if len(found) > MOST_LINES or any(len(line) > LONGEST for line in found):
        raise ValueError(_("at most %(n)d lines of %(m)d characters are expected.")
                         % {"n": MOST_LINES, "m": LONGEST})
    return found


def one_line(value: Any) -> str:
    """One line."""
    text = str(value).strip()
    if "\n" in text or "\0" in text or len(text) > LONGEST:
        raise ValueError(_("one line is expected."))
    return text


def split_words(text: str) -> list[str]:
    """Words as a shell splits them."""
    try:
        return shlex.split(text)
    except ValueError:
        raise ValueError(_("a quotation mark is not closed.")) from None


def path(value: Any) -> str:
    """An absolute path, or one from the home folder on."""
    text = one_line(value)
    if not PATH.fullmatch(text) or ".." in text.split("/"):
        raise ValueError(_("“%(path)s” is not an absolute path; it begins with / or ~/ and holds "
                           "no “..”.") % {"path": text})
    return text


def paths(value: Any) -> list[str]:
    """One folder per line."""
    return [path(line) for line in lines(value)]


def scripts(value: Any) -> list[str]:
    """One script per line, with its arguments."""
    found = lines(value)
    for line in found:
        words = split_words(line)
        path(words[0] if words else line)
    return found


def variables(value: Any) -> dict[str, str]:
    """NAME=value per line, or as a dictionary; none that looks like a secret."""
    pairs = value.items() if isinstance(value, dict) else [
        line.partition("=")[::2] for line in lines(value)]
    found = {str(name).strip().removeprefix("export ").strip(): one_line(text)
             for name, text in pairs}
    for name, text in found.items():
        _require_variable(name, text)
    return found


def _require_variable(name: str, text: str) -> None:
    if not NAME.fullmatch(name):
        raise ValueError(_("“%(name)s” is not a variable name; a line reads NAME=value.")
                         % {"name": name})
    if name in OURS:
        raise ValueError(_("“%(name)s” is set by the desk.") % {"name": name})
    if is_secret_name(name) or mask_text(f"{name}={text}") != f"{name}={text}":
        raise ValueError(_(
            "“%(name)s” looks like a secret. A runtime is shown and kept as evidence: set it in a "
            "set-up script on the node.") % {"name": name})


def proxy(value: Any) -> str:
    """A proxy without user and password."""
    text = one_line(value)
    if not PROXY.fullmatch(text) or "@" in text:
        raise ValueError(_("a proxy reads http://host:port, without user and password: those "
                           "belong into a set-up script on the node."))
    return text


def umask(value: Any) -> str:
    """Three octal digits."""
    text = one_line(value)
    if not UMASK.fullmatch(text):
        raise ValueError(_("a umask has three octal digits, such as 022."))
    return text


def number(most: int) -> Callable[[Any], int]:
    """A check for whole numbers up to `most`."""
    def clean(value: Any) -> int:
        number = whole_number(str(value).strip())
        if number is None or number > most:
            raise ValueError(_("a whole number up to %(n)d is expected.") % {"n": most})
        return number

    return clean


def one_of(choices: dict[str, Any]) -> Callable[[Any], str]:
    """A check for one of the choices."""
    def clean(value: Any) -> str:
        if str(value) not in choices:
            raise ValueError(_("one of %(choices)s is expected.")
                             % {"choices": ", ".join(filter(None, choices))})
        return str(value)

    return clean


def command(value: Any) -> str:
    """A command line."""
    text = one_line(value)
    split_words(text)
    return text


def name(value: Any) -> str:
    """A name of an engine's container or network."""
    text = one_line(value)
    if not ENGINE_NAME.fullmatch(text):
        raise ValueError(_("“%(name)s” is not a valid name; letters, digits and _ . - are "
                           "expected.")
                         % {"name": text})
    return text


def user(value: Any) -> str:
    """A user inside a container."""
    text = one_line(value)
    if not INSIDE_USER.fullmatch(text):
        raise ValueError(_("a user reads name, number, or number:number."))
    return text


def image(value: Any) -> str:
    """An image, by digest or tag."""
    text = one_line(value)
    if not IMAGE.fullmatch(text):
        raise ValueError(_("“%(name)s” is not an image; registry/name@sha256:… or "
                           "registry/name:tag is expected.") % {"name": text})
    return text


def entry_point(value: Any) -> str:
    """“image” for its own, or the path of another."""
    return value if value == "image" else path(value)


def mounts(value: Any) -> list[str]:
    """/on/the/node:/inside per line, then :ro where it is only read."""
    found = lines(value)
    for line in found:
        source, target, *flags = [*line.split(":"), ""][:4]
        if not target.startswith("/") or flags[:1] not in (["ro"], ["rw"], [""]) or (
                line.count(":") > 2):
            raise ValueError(_("“%(line)s” is not a mount; a line reads /on/the/node:/inside or "
                               "/on/the/node:/inside:ro.") % {"line": line})
        path(source)
    return found


def run_options(value: Any) -> str:
    """Words for the engine's `run`, none of which breaks a promise of ours."""
    text = one_line(value)
    for word in split_words(text):
        name = word.partition("=")[0]
        if name in OURS_OF_RUN:
            raise ValueError(_("the desk itself sets “%(word)s”.") % {"word": word})
    return text
