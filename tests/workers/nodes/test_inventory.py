"""Inventories become nodes: formats, faults with their places, hostile files, the first look."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from openpyxl import Workbook

from engagements.errors import InvalidInput, WrongState
from engagements.models import AuditEntry, Role
from tests.workers.nodes.test_access_methods import signed
from tests.workers.sshd import make_key
from workers.models import ImportedNode, Job, Node, NodeImport
from workers.nodes import jump_hosts
from workers.nodes.inventory import ansible, node_rows
from workers.nodes.inventory.files import read_inventory
from workers.services import node_imports

pytestmark = pytest.mark.django_db

INI = b"""
[npu:children]
train
[train]
node[01:02] ansible_host=10.0.0.1 ansible_port=2222
n3 ansible_host="10.0.0.3" ansible_password=secret  # the third
[train:vars]
ansible_user=ascend
cards=16
[npu:vars]
cards=8
scratch_dir=/data/desk
ansible_ssh_common_args='-o ProxyJump=jump@bastion:2200'
"""
YAML = b"""
all:
  vars: {ansible_user: root}
  children:
    train:
      hosts:
        n1: {ansible_host: 10.0.0.1, ansible_port: 2222, ansible_become_pass: !vault "x"}
        n2:
"""


def read(data, name):
    return read_inventory(io.BytesIO(data), name)


def book(*rows):
    made = Workbook()
    for row in rows:
        made.active.append(row)
    stream = io.BytesIO()
    made.save(stream)
    return stream.getvalue()


def start(people, data, name="nodes.csv", **more):
    return node_imports.start_import(actor=people[Role.OPERATOR], upload=io.BytesIO(data),
                                     file_name=name, **more)


def test_ansible_ini_has_the_variables_of_its_groups_nearest_last(people):
    file = read(INI, "hosts")
    source = start(people, INI, "hosts")
    first, _second, third = node_imports.table_of(source).rows
    assert (file.format, file.secrets) == ("ini", ["ansible_password"])
    assert first.fields == {
        "name": "node01", "host": "10.0.0.1", "port": 2222, "username": "ascend",
        "cards_total": 16, "scratch_dir": "/data/desk", "labels": "npu,train",
        "bastion_host": "bastion", "bastion_username": "jump", "bastion_port": 2200}
    assert third.fields["host"] == "10.0.0.3"
    assert "secret" not in str(source.entries)


def test_ansible_yaml_is_read_without_its_vault():
    file = read(YAML, "inventory.yml")
    assert [entry.values for entry in file.entries] == [
        {"inventory_hostname": "n1", "ansible_user": "root", "ansible_host": "10.0.0.1",
         "ansible_port": "2222", "groups": "train"},
        {"inventory_hostname": "n2", "ansible_user": "root", "groups": "train"}]


def test_table_in_chinese_from_xlsx_and_gbk_csv_says_the_same(people):
    rows = [["名称", "IP地址", "端口", "用户名", "卡数"], ["训练-1", "10.0.0.1", 2222, "root", 8]]
    sheet = book(*rows)
    text = "\n".join(";".join(map(str, row)) for row in rows).encode("gb18030")
    tables = [node_imports.table_of(start(people, data, name)).rows[0].fields
              for data, name in ((sheet, "a.xlsx"), (text, "a.csv"))]
    assert tables[0] == tables[1] == {"name": "训练-1", "host": "10.0.0.1", "port": 2222,
                                      "username": "root", "cards_total": 8}


def test_every_fault_has_row_and_column_and_nothing_is_created(people):
    Node.objects.create(name="old", host="10.0.0.9", username="root", cards_total=8)
    source = start(people, b"name,ip,port,user,npus,colour\n"
                           b"a,10.0.0.1,0,root,8,red\n"
                           b"b,10.0.0.1,x,=1+1,99,\n"
                           b"\n"
                           b"old,10.0.0.8,22,,8,\n"
                           b"c,10.0.0.9,22,root,8,\n")
    table = node_imports.table_of(source)
    titles = {name: str(node_rows.COLUMNS[name][0]) for name in node_rows.COLUMNS}
    assert sorted((fault.place, fault.column) for fault in table.faults) == sorted([
        ("2", titles["port"]), ("3", titles["port"]), ("3", titles["username"]),
        ("3", titles["cards_total"]), ("5", titles["name"]), ("5", titles["username"]),
        ("6", titles["host"])])
    assert table.unused == ["colour"]
    with pytest.raises(InvalidInput):
        node_imports.apply_import(actor=people[Role.OPERATOR], source=source)
    assert list(Node.objects.values_list("name", flat=True)) == ["old"]


@pytest.mark.parametrize("text", [
    "[a:children]\nb\n[b:children]\na\n[a]\nn1\n", "node[1:99999999]\n", "n1 'open\n",
    "n[1:30][1:30]\n", "n1 two three\n"])
def test_hostile_ini_is_refused(text):
    with pytest.raises(InvalidInput):
        read(text.encode(), "hosts")


@pytest.mark.slow
def test_hostile_yaml_is_refused():
    bomb = b"a: &a [x]\nb: &b [*a, *a]\nall: {hosts: {n1: {v: *b}}}\n"
    for data in (bomb, b"all: " + b"[" * 5000, b"all: !!python/object/apply:os.system [id]\n"):
        with pytest.raises(InvalidInput):
            read(data, "hosts.yml")
    with pytest.raises(InvalidInput):
        ansible.entries_of_yaml("all: {hosts: [n1]}")


def test_hostile_workbooks_are_refused():
    huge = io.BytesIO()
    with zipfile.ZipFile(huge, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"0" * (30 * 2**20))
    many = book(["name"], *([f"n{n}"] for n in range(501)))
    wide = book(["name", *(f"c{n}" for n in range(80))], ["n1"])
    for data in (huge.getvalue(), many, wide, many[:3000], b"PK\x03\x04", b"\x00\x01\x02" * 99):
        with pytest.raises(InvalidInput):
            read(data, "nodes.xlsx")


def test_formula_of_a_workbook_is_a_fault_and_never_evaluated(people):
    source = start(people, book(["name", "ip", "user"], ['=WEBSERVICE("http://x")', "h", "root"]),
                   "n.xlsx")
    [fault] = node_imports.table_of(source).faults
    assert fault.column == str(node_rows.COLUMNS["name"][0])


@pytest.mark.slow
def test_nodes_of_an_import_are_probed_confirmed_and_checked(people, ssh_server, client,
                                                             django_capture_on_commit_callbacks):
    operator = people[Role.OPERATOR]
    client.force_login(operator)
    rows = (f"name,ip,port\ngood,{ssh_server.host},{ssh_server.port}\n"
            f"away,127.0.0.1,1\n")
    client.post(reverse("workers:import_new"), {
        "upload": SimpleUploadedFile("n.csv", rows.encode()), "username": ssh_server.username})
    source = NodeImport.objects.get()
    page = reverse("workers:import", args=[source.pk])
    assert b"good" in client.get(page).content
    client.post(reverse("workers:import_apply", args=[source.pk]),
                {"private_key": ssh_server.private_key_text, "is_practice": "on"})
    good, away = source.nodes.all()
    node_imports.look_at(good.pk)
    node_imports.look_at(good.pk)  # a message that comes twice
    node_imports.look_at(away.pk)
    offered = client.get(page).context["looks"][0].offered
    assert [look.state for look in source.nodes.all()] == ["to_confirm", "failed"]
    with pytest.raises(InvalidInput):
        node_imports.accept_fingerprints(actor=operator, source=source,
                                         offers={good.pk: "SHA256:" + "x" * 43})
    client.post(reverse("workers:import_accept", args=[source.pk]), {f"offer-{good.pk}": offered})
    node_imports.look_at(good.pk)
    assert ImportedNode.objects.get(pk=good.pk).state == "ready"
    assert Node.objects.get(name="good").state == Node.State.READY
    assert Job.objects.filter(node__name="good").count() == len(node_imports.FIRST_CHECKS)
    assert node_imports.look_again(actor=operator, source=source) == 1
    with pytest.raises(WrongState):
        node_imports.apply_import(actor=operator, source=source)
    assert "PRIVATE KEY" not in str(list(AuditEntry.objects.values_list("data", flat=True)))


def test_each_row_is_tried_before_anything_is_created(people, ssh_server, client):
    good = f"ok,127.0.0.1,{ssh_server.port},practice,"
    wrong = f"wrong,localhost,{ssh_server.port},practice,SHA256:{'A' * 43}"
    source = start(people, "\n".join([
        "name,host,port,user,fingerprint", good, wrong, "away,127.0.0.1,1,practice,"]).encode())
    client.force_login(people[Role.OPERATOR])
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    rows = client.post(f"/api/v1/node-imports/{source.pk}/try/").json()
    assert [(bool(row["fingerprint"]), bool(row["refusal"])) for row in rows] == [
        (True, False), (True, True), (False, True)]
    page = client.post(reverse("workers:import_try", args=[source.pk])).content.decode()
    assert ["can be enrolled" in page, "the file says SHA256:AAA" in page] == [True, True]
    assert not Node.objects.exists()


def test_key_of_another_fingerprint_than_the_file_gives_is_not_pinned(people, ssh_server):
    rows = (f"name,ip,port,user,fingerprint\nn1,{ssh_server.host},{ssh_server.port},"
            f"{ssh_server.username},SHA256:{'A' * 43}\n")
    source = start(people, rows.encode())
    node_imports.apply_import(actor=people[Role.OPERATOR], source=source)
    look = source.nodes.get()
    node_imports.look_at(look.pk)
    look.refresh_from_db()
    assert (look.state, look.node.host_key) == ("failed", "")


def test_jump_hosts_and_certificates_are_columns(people, tmp_path):
    key = make_key(tmp_path / "user")
    jump = f"{(tmp_path / 'user.pub').read_text().strip()}"
    certificate = signed(tmp_path, "user").strip()
    heads = ["name", "ip", "user", "bastion", "bastion_host_key", "后续跳板机", "证书"]
    chain = f"a@10.0.0.8:2200 {jump}; 10.0.0.9 {jump}"
    good = ["n1", "10.0.0.1", "root", "10.0.0.7", jump, chain, certificate]
    source = start(people, book(heads, good), "nodes.xlsx")
    fields = node_imports.table_of(source).rows[0].fields
    assert fields["jump_hosts"] == chain.replace("; ", "\n")
    assert fields["certificate"] == certificate
    operator = people[Role.OPERATOR]
    for other in ("", make_key(tmp_path / "other")):
        with pytest.raises(InvalidInput, match=r"^2: "):
            node_imports.apply_import(actor=operator, source=source, private_key=other)
    node_imports.apply_import(actor=operator, source=source, private_key=key)
    assert len(jump_hosts.chain_of(Node.objects.get(name="n1").jump_hosts)) == 2
    bad = [["m1", "10.0.1.1", "root", "", "", chain, ""],
           ["m2", "10.0.1.2", "root", "b", jump, "a@host", "ssh-ed25519 AAAA"]]
    faults = node_imports.table_of(start(people, book(heads, *bad), "m.xlsx")).faults
    titles = {name: str(node_rows.COLUMNS[name][0]) for name in ("jump_hosts", "certificate")}
    assert sorted((fault.place, fault.column) for fault in faults) == sorted([
        ("2", titles["jump_hosts"]), ("3", titles["jump_hosts"]), ("3", titles["certificate"])])
