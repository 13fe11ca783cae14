"""Plug-ins: installed packages that add parts by entry points (docs/extending.md).

A part is a module that registers what it declares when it is imported. A package whose parts do
not all load is named by `manage.py check` and `doctor`, and none of its parts is registered.
"""

import logging
import os
from collections import defaultdict
from copy import copy
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from django.core import checks
from django.utils.translation import gettext as _

from toolreaders import base as readers

PREFIX = "delivery_desk."
GROUPS = ("readers", "job_kinds", "rules", "document_kinds", "channels", "schedulers")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plugin:
    """An installed package with parts; `error` says why none of them is registered."""

    name: str
    version: str
    parts: tuple[str, ...]
    error: str = ""


PLUGINS: list[Plugin] = []


def load_all() -> None:
    """Load every plug-in, in the order of their names; called once, when the desk's own parts are
    registered."""
    found: dict[tuple[str, str], list[EntryPoint]] = defaultdict(list)
    for group in GROUPS:
        for entry in entry_points(group=PREFIX + group):
            found[entry.dist.name, entry.dist.version].append(entry)
    for (name, version), entries in sorted(found.items()):
        parts = tuple(dict.fromkeys(entry.group.removeprefix(PREFIX) for entry in entries))
        PLUGINS.append(Plugin(name, version, parts, _error_of(entries)))
    if refused := [plugin.name for plugin in PLUGINS if plugin.error]:
        os.environ[readers.WITHOUT] = ",".join(refused)  # for the processes that read files
    readers.load_readers.cache_clear()


def _registries() -> tuple[dict, ...]:
    """What parts register in; asked only where there is a plug-in, since some load slowly."""
    from delivery.notices import channel_kinds
    from delivery.reports import registry
    from workers import rules, schedulers
    from workers.kinds import base as kinds
    from workers.models import node
    from workers.rules.facts import base as facts

    return (readers.READERS, kinds._kinds, rules.RULES, facts._observers, registry._kinds,
            channel_kinds._senders, schedulers.KINDS, node.REGISTERED_SCHEDULERS)


def _error_of(entries: list[EntryPoint]) -> str:
    """Load all of them, or leave every registry as it was and say why."""
    readers.import_formats()  # the desk's own come first: a name is given once
    registries = _registries()
    before = [{key: copy(value) if isinstance(value, list) else value
               for key, value in registry.items()} for registry in registries]
    for entry in entries:
        try:
            entry.load()
        except (Exception, SystemExit) as error:  # whatever a foreign module raises
            for registry, known in zip(registries, before, strict=True):
                registry.clear()
                registry.update(known)
            log.exception("plug-in part %s", entry.value)
            return f"{entry.value}: {type(error).__name__}: {error}"
    return ""


def check_plugins(app_configs: Any, **options: Any) -> list[checks.CheckMessage]:
    """A warning for every plug-in that was not loaded; the desk works without it."""
    return [checks.Warning(_("The plug-in %(name)s was not loaded: %(error)s") % {
        "name": plugin.name, "error": plugin.error}, id="desk.W002",
        hint=_("Upgrade or remove the package: pip uninstall %(name)s") % {"name": plugin.name})
        for plugin in PLUGINS if plugin.error]
