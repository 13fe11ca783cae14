"""What the rows of an inventory say as nodes: columns by name, and each fault with its place."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from workers.models import Node
from workers.nodes import certificates, jump_hosts, ssh
from workers.uploaded_table import Entry

# Field: heading on our pages, names in files, what to write.
COLUMNS: dict[str, tuple[Any, tuple[str, ...], Any]] = {
    "name": (_("name"), ("name", "node", "hostname", "inventory_hostname", "名称", "节点",
                         "节点名称", "主机名"),
             _("Give each node a name of at most 60 characters.")),
    "host": (_("address"), ("host", "address", "ip", "ip address", "ansible_host",
                            "ansible_ssh_host", "地址", "IP地址", "主机"),
             _("Write a host name or an IP address, without user and port.")),
    "port": (_("port"), ("port", "ssh port", "ansible_port", "ansible_ssh_port", "端口", "SSH端口"),
             _("Write a whole number from 1 to 65535.")),
    "username": (_("user"), ("user", "username", "ansible_user", "ansible_ssh_user", "用户",
                             "用户名", "登录用户"),
                 _("Write the user that logs in, such as root; letters, digits, . _ and -.")),
    "labels": (_("labels"), ("labels", "label", "groups", "tags", "标签", "分组"),
               _("At most 160 characters.")),
    "cards_total": (_("cards"), ("cards", "cards_total", "npus", "npu_count", "卡数", "NPU卡数",
                                 "NPU数"), _("Write a whole number from 0 to 64.")),
    "ring_size": (_("cards per ring"), ("ring_size", "cards per ring", "每环卡数"),
                  _("Write a whole number from 1 to 64.")),
    "keep_days": (_("days to keep job folders"), ("keep_days", "保留天数"),
                  _("Write a whole number of days.")),
    "scratch_dir": (_("scratch folder"), ("scratch_dir", "scratch", "工作目录", "临时目录"),
                    _("Write a folder of letters, digits and . _ / ~ -.")),
    "set_env": (_("environment script"), ("set_env", "environment script", "环境脚本"),
                _("Write the path of a script, such as "
                  "/usr/local/Ascend/ascend-toolkit/set_env.sh.")),
    "bastion_host": (_("bastion address"), ("bastion_host", "bastion", "jump host", "跳板机",
                                            "堡垒机"), _("Write a host name or an IP address.")),
    "bastion_port": (_("bastion port"), ("bastion_port", "跳板机端口"),
                     _("Write a whole number from 1 to 65535.")),
    "bastion_username": (_("bastion user"), ("bastion_user", "bastion_username", "跳板机用户"),
                         _("Write the user that logs in there.")),
    "bastion_host_key": (_("bastion host key"), ("bastion_host_key", "跳板机主机密钥"),
                         _("Write the line of the bastion's ssh_host_ed25519_key.pub.")),
    "jump_hosts": (_("jump hosts behind the bastion"), (
        "jump_hosts", "jump hosts", "proxy_chain", "后续跳板机", "多级跳板机"), _(
        "Write user@host:port and the line of its ssh_host_ed25519_key.pub for each, in order, "
        "separated by line breaks or semicolons.")),
    "certificate": (_("certificate of the key"), ("certificate", "ssh_certificate", "证书",
                                                  "密钥证书"), _(
        "Write the line of the file id_…-cert.pub.")),
    "fingerprint": (_("host key fingerprint"), ("fingerprint", "host_key_fingerprint",
                                                "主机密钥指纹", "指纹"),
                    _("Write it as ssh-keygen -lf prints it: SHA256:… with 43 characters.")),
}
NUMBERS = ("port", "cards_total", "ring_size", "keep_days", "bastion_port")
FIELDS_BY_NAME = {name.casefold(): column for column, (_title, names, _hint) in COLUMNS.items()
                  for name in names}
FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]{43}")
FORMULA = ("=", "+", "-", "@", "\t")  # what a spreadsheet takes as one
PROXY = re.compile(r"(?:-J\s*|ProxyJump[=\s]\s*)([^\s'\",]+)(,?)")
PROXY_COLUMNS = ("ansible_ssh_common_args", "ansible_ssh_extra_args")


@dataclass(frozen=True)
class Fault:
    """Where in the file, what is wrong and what to do, in the active language."""

    place: str
    column: str
    sentence: str


@dataclass
class NodeRow:
    """One machine: the fields of a node, and the fingerprint the file gives."""

    place: str
    fields: dict[str, Any]
    fingerprint: str = ""


@dataclass
class NodeTable:
    """Rows of a file, its faults, and names of columns that no node has."""

    rows: list[NodeRow] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)


def node_table(entries: Iterable[Entry], username: str = "") -> NodeTable:
    """Check every row against the fields of a node, the other rows and the enrolled nodes.

    Args:
        username: of rows that name no user.
    """
    table = NodeTable()
    unused: dict[str, bool] = {}
    for entry in entries:
        row, faults = _row(entry, username, unused)
        table.rows.append(row)
        table.faults += faults
    table.faults += _repeated(table.rows)
    table.unused = list(unused)
    return table


def _row(entry: Entry, username: str, unused: dict[str, bool]) -> tuple[NodeRow, list[Fault]]:
    texts = _proxied(entry.values)
    found: dict[str, str] = {}
    for name, text in entry.values.items():
        column = FIELDS_BY_NAME.get(name.strip().casefold())
        if column:
            found.setdefault(column, text)
        elif name not in PROXY_COLUMNS:
            unused[name[:60]] = True
    found = {**texts, **found}
    if "name" in found:
        found.setdefault("host", found["name"])
    elif "host" in found:
        found["name"] = found["host"]
    if username:
        found.setdefault("username", username)
    return _checked(entry.place, found)


def _proxied(values: dict[str, str]) -> dict[str, str]:
    """The bastion that Ansible's ssh arguments name; of a chain nothing is taken."""
    for name in PROXY_COLUMNS:
        found = PROXY.search(values.get(name, ""))
        if found and not found[2]:
            user, _at, place = found[1].rpartition("@")
            host, _colon, port = place.partition(":")
            return {"bastion_host": host, **({"bastion_username": user} if user else {}),
                    **({"bastion_port": port} if port else {})}
    return {}


def _checked(place: str, found: dict[str, str]) -> tuple[NodeRow, list[Fault]]:
    faults: list[Fault] = []
    fields: dict[str, Any] = {}
    for column, text in found.items():
        if text.startswith(FORMULA):
            faults.append(_fault(place, column, gettext(
                "the cell holds a formula or begins like one; write the value")))
        elif column == "jump_hosts":
            fields[column] = "\n".join(line.strip() for line in re.split(r"[;\n]", text)
                                       if line.strip())
        elif column not in NUMBERS:
            fields[column] = text
        elif text.isascii() and text.isdigit() and len(text) < 7:
            fields[column] = int(text)
        else:
            faults.append(_fault(place, column, gettext("“%(text)s” is not a whole number") % {
                "text": text[:40]}))
    row = NodeRow(place, fields, fields.pop("fingerprint", ""))
    faulty = {fault.column for fault in faults}
    faults += [fault for fault in _model_faults(row) if fault.column not in faulty]
    return row, faults


def _model_faults(row: NodeRow) -> Iterator[Fault]:
    """What the node's own fields refuse; uniqueness is looked at for all rows together."""
    try:
        Node(**row.fields).full_clean(
            exclude=["host_key", "offered_host_key"], validate_unique=False)
    except ValidationError as error:
        for column, sentences in error.message_dict.items():
            yield _fault(row.place, column, " ".join(sentences).rstrip(".。"))
    if row.fingerprint and not FINGERPRINT.fullmatch(row.fingerprint):
        yield _fault(row.place, "fingerprint", gettext("this is not a fingerprint"))
    if row.fields.get("bastion_host") and not _is_key(row.fields.get("bastion_host_key", "")):
        yield _fault(row.place, "bastion_host_key", gettext(
            "the bastion's host key is missing or cannot be read"))
    yield from _key_faults(row)


def _key_faults(row: NodeRow) -> Iterator[Fault]:
    """Jump hosts without a bastion before them or that cannot be read, and certificates."""
    hops, certificate = row.fields.get("jump_hosts", ""), row.fields.get("certificate", "")
    try:
        jump_hosts.chain_of(hops)
    except ValueError as error:
        yield _fault(row.place, "jump_hosts", str(error).rstrip(".。"))
    else:
        if hops and not row.fields.get("bastion_host"):
            yield _fault(row.place, "jump_hosts", gettext(
                "the first jump host is missing: it is the bastion, in its own column"))
    try:
        if certificate:
            certificates.facts_of(certificate)
    except ValueError:
        yield _fault(row.place, "certificate", gettext("this is not an OpenSSH certificate"))


def _is_key(text: str) -> bool:
    try:
        return bool(ssh.fingerprint(text))
    except ValueError:
        return False


def _fault(place: str, column: str, what: str) -> Fault:
    title, _names, hint = COLUMNS.get(column, (column, (), ""))
    return Fault(place, str(title), f"{what}. {hint}".strip())


def _repeated(rows: list[NodeRow]) -> Iterator[Fault]:
    """Names and addresses that come twice, in the file or among the nodes."""
    names = Counter(row.fields.get("name") for row in rows)
    addresses = Counter(_address(row.fields) for row in rows)
    known_names = set(Node.objects.values_list("name", flat=True))
    known = {_address(found): found["name"] for found in Node.objects.values(
        "name", "host", "port", "bastion_host")}
    for row in rows:
        name, address = row.fields.get("name"), _address(row.fields)
        if name and (names[name] > 1 or name in known_names):
            yield Fault(row.place, str(COLUMNS["name"][0]), gettext(
                "The name “%(name)s” is taken by another row or an enrolled node. Choose another "
                "or delete the row.") % {"name": name})
        elif address[0] and (addresses[address] > 1 or address in known):
            yield Fault(row.place, str(COLUMNS["host"][0]), gettext(
                "The address is that of another row or of the node %(name)s: its cards would be "
                "leased twice. Delete the row.") % {"name": known.get(address, "–")})


def _address(fields: dict[str, Any]) -> tuple:
    return (fields.get("host"), fields.get("port", 22), fields.get("bastion_host", ""))
