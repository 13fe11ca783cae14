"""`verify.pyz` on a Python that has no package: what it checks, what it says it cannot check."""

import json
import os
import subprocess
import venv
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.urls import reverse

import tests
from bundle_verifier.archive import CHECKSUMS, SIGNATURE, extract, write_archive
from bundle_verifier.translation import CATALOGUE
from delivery.evidence.verifier_file import verifier_file
from engagements.models import Role
from tests.delivery.evidence.bundle.conftest import rewritten, verified
from toolreaders import read_file

pytestmark = pytest.mark.slow

NOT_CHECKED = "the Python packages cryptography, pyhanko are not installed"


@pytest.fixture(scope="session")
def bare(tmp_path_factory):
    """Runs the single file with a Python of its own; arguments to a finished process."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder / "python", with_pip=False)
    call_command("verifier", folder / "verify.pyz", stdout=StringIO())

    def run(*arguments, language="en"):
        return subprocess.run(
            [folder / "python" / "bin" / "python", folder / "verify.pyz", "--lang", language,
             *arguments], cwd=folder, env={"PATH": os.environ["PATH"]}, capture_output=True,
            text=True, check=False)

    return run


def test_nothing_is_installed(bare, signed_bundle):
    python = bare("--help").args[0]
    for name in ("django", "numpy", "pyhanko", "cryptography", "openpyxl"):
        done = subprocess.run([python, "-c", f"import {name}"], capture_output=True, check=False)
        assert done.returncode == 1, name


def test_all_but_signature_and_seals_is_checked(bare, signed_bundle, certificate):
    done = bare(signed_bundle, "--certificate", certificate)
    assert done.returncode == 3, done
    open_ = [line for line in done.stdout.splitlines() if line.startswith("open")]
    assert len(open_) >= 2
    assert all(NOT_CHECKED in line for line in open_), open_
    assert "SHA256SUMS.p7s" in open_[0]
    assert "its seal was not checked" in open_[1]
    assert "Signature of" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        "signed.zip: whether the signature SHA256SUMS.p7s is valid was not checked: "
        f"{NOT_CHECKED}; good as far as it goes; {len(open_) - 1} steps could not be checked.")
    of_the_desk = verified(signed_bundle, certificate).splitlines()
    message = {line[5:] for line in done.stdout.splitlines() if line.startswith("  ok")}
    assert message < {line[6:] for line in of_the_desk if line.startswith("  ok")}
    assert any("LLM · loss_mean_relative_error v1: Passed" in line for line in message)


@pytest.mark.skipif(not (settings.BASE_DIR / CATALOGUE).is_file(), reason="not compiled")
def test_it_speaks_chinese(bare, signed_bundle):
    done = bare(signed_bundle, "--report", "report.html", language="zh")
    assert done.returncode == 3
    assert "SHA256SUMS 中的校验值全部相符" in done.stdout
    assert ("未核验签名 SHA256SUMS.p7s 是否有效：未安装 Python 软件包 cryptography, pyhanko"
            in done.stdout)


def test_another_certificate_is_refused(bare, signed_bundle, certificate, tmp_path):
    (tmp_path / "other.der").write_bytes(b"\x30\x03abc")
    done = bare(signed_bundle, "--certificate", tmp_path / "other.der")
    assert (done.returncode, "Signed by somebody else" in done.stdout) == (1, True), done
    (tmp_path / "text.pem").write_text("no certificate")
    done = bare(signed_bundle, "--certificate", tmp_path / "text.pem")
    assert (done.returncode, "cannot be read" in done.stderr) == (2, True), done


def test_changes_are_refused(bare, signed_bundle):
    content = signed_bundle.read_bytes()
    for place in (40, len(content) // 2, len(content) - 30):
        changed = bytearray(content)
        changed[place] ^= 1
        signed_bundle.write_bytes(changed)
        assert bare(signed_bundle).returncode == 1, place


def test_changes_with_mended_checksums_are_refused(bare, signed_bundle):
    """The signature's digest is compared, though nobody verifies the signature."""
    def change(files):
        text = files["verdicts.json"].read_text("utf-8")
        files["verdicts.json"].write_text(text.replace("passed", "failed", 1), "utf-8")

    done = bare(rewritten(signed_bundle, change))
    assert (done.returncode, "SHA256SUMS.p7s does not sign this SHA256SUMS." in done.stdout,
            "recomputed Passed" in done.stdout) == (1, True, True), done


def test_without_its_signature_it_is_refused(bare, signed_bundle):
    files = {name: member.path for name, member in extract(
        signed_bundle, signed_bundle.parent / "unpacked").items()}
    del files[CHECKSUMS], files[SIGNATURE]
    with signed_bundle.open("wb") as target:
        write_archive(target, files)
    done = bare(signed_bundle)
    assert (done.returncode, "named in bundle.json is missing" in done.stdout) == (1, True), done


def test_tool_outputs_are_read(bare):
    """Workbooks too; by the readers that the file holds."""
    python, archive = bare("--help").args[:2]
    samples = Path(tests.__path__[0]) / "samples"
    files = [next(samples.rglob("result*.xlsx")), samples / "training" / "imagenet_S_bf16.log"]
    done = subprocess.run(
        [python, "-c", "import sys; sys.path.insert(0, sys.argv.pop(1)); "
                       "from toolreaders.command_line import main; sys.exit(main())",
         archive, "read", "--json", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert [json.loads(line)["kind"] for line in done.stdout.splitlines()] == [
        read_file(path).kind for path in files]


def test_an_older_python_is_told_so(bare):
    python, archive = bare("--help").args[:2]
    done = subprocess.run(
        [python, "-c", "import runpy, sys; sys.version_info = (3, 9, 2); "
                       "runpy.run_path(sys.argv[1], run_name='__main__')", archive],
        capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (
        1, "Python 3.11 or later is needed / 需要 Python 3.11 或更高版本")


def test_a_document_s_page_offers_it(client, people, document, bundle):
    client.force_login(people[Role.MANAGER])
    link = reverse("evidence:verifier")
    assert f'href="{link}"' in client.get(reverse("reports:document", args=[document.pk])
                                          ).content.decode()
    assert client.get(link).content == verifier_file()
