"""Shell text that makes a runtime's environment and then becomes the command.

It is run by bash, since set-up scripts are written for it, or by sh where there is none.
"""

import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

from workers.remote.scripts import quote
from workers.runtimes.options import (
    COLLECT,
    CONDA,
    LOG_DEFAULTS,
    LOG_VARIABLES,
    MODULES,
    NODES_PLOG,
    VENV,
)

_HERE = Path(__file__).parent
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
PROXY_VARIABLES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")


def needs_functions(options: dict[str, Any]) -> bool:
    """Whether anything is set up that may be missing or fail."""
    return any(name in options for name in ("scripts", "manager", "folder"))


def lines(options: dict[str, Any]) -> list[str]:
    """What comes before the command's own variables, in order."""
    proxy, without = options.get("proxy"), options.get("no_proxy")
    return [
        *([functions()] if needs_functions(options) else []),
        *(line for script in options.get("scripts", []) for line in _sourced(script)),
        *_MANAGERS.get(options.get("manager", ""), lambda _options: [])(options),
        *(f"export {name}={quote(proxy)}" for name in PROXY_VARIABLES if proxy),
        *(f"export {name}={quote(without)}" for name in ("no_proxy", "NO_PROXY") if without),
        *(f"export {name}={expanding(text)}"
          for name, text in options.get("variables", {}).items()),
        *([f"export LD_LIBRARY_PATH={':'.join(map(quote, options['libraries']))}"
           '"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"'] if "libraries" in options else []),
        *(f"export {name}={options[option]}" for option, name in LOG_VARIABLES.items()
          if option in options),
        *(['export ASCEND_PROCESS_LOG_PATH="$DESK_WORK/plog"'] if (
            options.get("plog") == COLLECT) else []),
        *(f'export {name}="${{{name}:-{value}}}"' for name, value in LOG_DEFAULTS.items()
          if name != "ASCEND_PROCESS_LOG_PATH" or options.get("plog") != NODES_PLOG),
        *([f"umask {options['umask']}"] if "umask" in options else []),
    ]


def command(options: dict[str, Any], argv: list[str]) -> str:
    """The last line: the working folder, then the command behind its wrappers."""
    wrappers = [*(["nice", "-n", str(options["nice"])] if "nice" in options else []),
                *shlex.split(options.get("wrapper", ""))]
    folder = options.get("folder", "")
    entered = f"cd {quote(folder)} || fail folder-missing {quote(folder)}\n" if folder else ""
    return entered + "exec " + " ".join(quote(word) for word in [*wrappers, *argv])


def _sourced(script: str) -> list[str]:
    file, *arguments = map(quote, shlex.split(script))
    return [f"begin {file}", f". {' '.join([file, *arguments])}", "end $?"]


def _venv(options: dict[str, Any]) -> list[str]:
    return _sourced(shlex.quote(options["environment"].rstrip("/") + "/bin/activate"))


def _conda(options: dict[str, Any]) -> list[str]:
    name = quote(options["environment"])
    return [f"find_conda {quote(options.get('manager_root', ''))}",
            '. "$conda/etc/profile.d/conda.sh" || fail "conda-missing $conda"',
            f"conda activate {name} || fail conda-failed {name}"]


def _modules(options: dict[str, Any]) -> list[str]:
    names = options["environment"].split()
    return [f"find_modules {quote(options.get('manager_root', ''))}",
            *(f"load_module {quote(name)}" for name in names)]


_MANAGERS = {VENV: _venv, CONDA: _conda, MODULES: _modules}


@cache
def functions() -> str:
    """The shell functions that the lines call."""
    return (_HERE / "activation.sh").read_text(encoding="utf-8").rstrip()


def expanding(text: str) -> str:
    """One shell word in which `${NAME}` stands for a variable, empty where it is not set, and a
    leading ~/ for the home folder; all else stays as it is."""
    pieces = VARIABLE.split(text)
    return "".join(f'"${{{piece}-}}"' if number % 2 else _plain(piece, number)
                   for number, piece in enumerate(pieces)) or "''"


def _plain(piece: str, number: int) -> str:
    if not piece:
        return ""
    return quote(piece) if number == 0 else quote("." + piece).replace(".", "", 1) \
        if piece.startswith("~") else quote(piece)
