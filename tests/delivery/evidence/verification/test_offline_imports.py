"""The offline verifier needs no more packages than it tells people to install."""

import ast
import sys
from pathlib import Path

from django.conf import settings

from delivery.evidence.management.commands.verifier import NEEDS, OWN, needed_modules

WITH_PYHANKO = {"asn1crypto", "cryptography", "pyhanko_certvalidator"}  # its own requirements


def imported_at_start(path: Path) -> set[str]:
    """Top-level names of what a module imports when it is loaded."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return {name.partition(".")[0] for name in found}


def test_packed_modules_import_only_what_is_asked_for():
    base = Path(settings.BASE_DIR)
    known = {*sys.stdlib_module_names, *OWN, *map(str.lower, NEEDS), *WITH_PYHANKO}
    foreign = {name: missing for name in needed_modules(base)
               if (missing := imported_at_start(base / name) - known)}
    assert foreign == {}
