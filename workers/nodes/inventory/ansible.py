"""Ansible inventories, INI and YAML (Ansible: “How to build your inventory”): hosts with the
variables of their groups, nearest last: all, parent groups, child groups, the host itself.

Plain data only: no plug-ins, no templates, no vault; YAML without aliases and tags of its own.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from workers.uploaded_table import MAX_CELL, MAX_ROWS, Entry, damaged, too_many

SECTION = re.compile(r"^\[([^\]\s:]+)(?::(vars|children))?\]\s*(?:[#;].*)?$")
RANGE = re.compile(r"\[(\w{1,9}):(\w{1,9})(?::(\d{1,4}))?\]", re.ASCII)
MAX_DEPTH = 20  # groups within groups
GROUPS = "groups"
Variables = dict[str, str]


@dataclass
class Inventory:
    """Groups with their hosts, variables and children; variables of the hosts themselves."""

    hosts: dict[str, Variables] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, Variables] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=dict)

    def add_host(self, group: str, name: str, variables: Variables) -> None:
        for one in expanded(name):
            self.hosts.setdefault(one, {}).update(variables)
            self.members.setdefault(group, []).append(one)
            if len(self.hosts) > MAX_ROWS:
                raise too_many()

    def entries(self) -> list[Entry]:
        """One per host, in the order of the file."""
        inherited: dict[str, Variables] = {name: {} for name in self.hosts}
        groups: dict[str, list[str]] = {name: [] for name in self.hosts}
        for group, depth in sorted(self._depths().items(), key=lambda item: item[1]):
            for host in self._all_members(group):
                inherited[host].update(self.variables.get(group, {}))
                if depth and group != "ungrouped" and group not in groups[host]:
                    groups[host].append(group)
        return [Entry(name, {"inventory_hostname": name, **inherited[name], **own,
                             **({GROUPS: ",".join(groups[name])} if groups[name] else {})})
                for name, own in self.hosts.items()]

    def _depths(self) -> dict[str, int]:
        """How deep each group stands: `all` is 0, a group without a parent 1."""
        names = {*self.members, *self.variables, *self.children,
                 *(child for found in self.children.values() for child in found)} - {"all"}
        if len(names) > MAX_ROWS:
            raise too_many()
        depths = {"all": 0, **dict.fromkeys(names, 1)}
        for _round in range(MAX_DEPTH):
            deeper = {child: depths[parent] + 1 for parent, found in self.children.items()
                      if parent != "all" for child in found if depths[child] <= depths[parent]}
            if not deeper:
                return depths
            depths |= deeper
        raise damaged(_("its groups contain each other"))

    def _all_members(self, group: str) -> list[str]:
        if group == "all":
            return list(self.hosts)
        reached = {group: True}
        for name in (queue := [group]):
            for child in self.children.get(name, []):
                if child not in reached:
                    reached[child] = True
                    queue.append(child)
        return list(dict.fromkeys(host for name in reached for host in self.members.get(name, [])))


def expanded(pattern: str) -> Iterator[str]:
    """`node[01:03]` as node01, node02, node03; letters too. Raises InvalidInput for more than 500.
    """
    found = RANGE.search(pattern)
    if found is None:
        yield pattern
        return
    first, last, step = found[1], found[2], int(found[3] or 1)
    if first.isdigit() and last.isdigit():
        texts = [str(n).zfill(len(first)) for n in _bounded(int(first), int(last), step)]
    elif len(first) == len(last) == 1:
        texts = [chr(n) for n in _bounded(ord(first), ord(last), step)]
    else:
        raise damaged(_("“%(text)s” is not a valid range of hosts") % {"text": pattern[:80]})
    for text in texts:
        yield from expanded(pattern[:found.start()] + text + pattern[found.end():])


def _bounded(first: int, last: int, step: int) -> range:
    if step < 1 or (last - first) // step >= MAX_ROWS:
        raise too_many()
    return range(first, last + 1, step)


def entries_of_ini(text: str) -> list[Entry]:
    """Hosts of an INI inventory. Raises InvalidInput naming the line that cannot be read."""
    inventory, group, part = Inventory(), "ungrouped", None
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if not line or line[0] in "#;":
            continue
        if found := SECTION.match(line):
            group, part = found[1], found[2]
            continue
        try:
            _take_ini(inventory, group, part, line)
        except ValueError as error:
            raise damaged(_("line %(n)d: %(why)s") % {"n": number, "why": error}) from error
    return inventory.entries()


def _take_ini(inventory: Inventory, group: str, part: str | None, line: str) -> None:
    if part == "children":
        inventory.children.setdefault(group, []).append(line.split(maxsplit=1)[0])
        return
    if part == "vars":
        name, sign, value = line.partition("=")
        if not sign:
            raise ValueError(_("a variable is written name=value"))
        inventory.variables.setdefault(group, {})[name.strip()] = _plain(value.strip())
        return
    host, *words = shlex.split(line, comments=True)
    if any("=" not in word for word in words):
        raise ValueError(_("only variables may follow a host, each as name=value"))
    pairs = (word.split("=", 1) for word in words)
    inventory.add_host(group, host, {name: value[:MAX_CELL] for name, value in pairs})


def _plain(value: str) -> str:
    """A variable's value without its quotes."""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    return value[:MAX_CELL]


class _PlainLoader(yaml.SafeLoader):
    """Refuses aliases, which a few lines can multiply without end."""

    def compose_node(self, parent, index):
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            raise yaml.YAMLError(_("line %(n)d uses an alias (*%(name)s); write it out") % {
                "n": event.start_mark.line + 1, "name": event.anchor})
        return super().compose_node(parent, index)


# An encrypted value (`!vault`) and other tags are no facts of a node: they read as empty.
_PlainLoader.add_multi_constructor("!", lambda loader, suffix, node: None)


def entries_of_yaml(text: str) -> list[Entry]:
    """Hosts of a YAML inventory. Raises InvalidInput for what is no inventory."""
    try:
        tree = yaml.load(text, _PlainLoader)  # a SafeLoader: plain data only
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise damaged(" ".join(str(error).split())[:300]) from error
    if not isinstance(tree, dict):
        raise damaged(_("a YAML inventory is a mapping of groups, such as “all:”"))
    inventory = Inventory()
    for name, group in tree.items():
        _take_group(inventory, str(name), group, 0)
    return inventory.entries()


def _take_group(inventory: Inventory, name: str, group: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise damaged(_("its groups contain each other"))
    group = _mapping(group, name)
    inventory.variables.setdefault(name, {}).update(_texts(_mapping(group.get("vars"), name)))
    for host, variables in _mapping(group.get("hosts"), name).items():
        inventory.add_host(name, str(host), _texts(_mapping(variables, str(host))))
    for child, below in _mapping(group.get("children"), name).items():
        inventory.children.setdefault(name, []).append(str(child))
        _take_group(inventory, str(child), below, depth + 1)


def _mapping(value: Any, name: str) -> dict:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidInput(_("The file cannot be read: %(why)s.") % {
            "why": _("“%(name)s” is not a mapping") % {"name": name[:80]}})
    return value


def _texts(variables: dict) -> Variables:
    """Single values; a list or a mapping is no fact of a node."""
    return {str(name): str(value)[:MAX_CELL] for name, value in variables.items()
            if isinstance(value, str | int | float) and value != ""}
