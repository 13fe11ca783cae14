"""The wheel of the readers, installed alone."""

import subprocess
import sys

import pytest
from django.conf import settings
from django.core.management import call_command

from workers.management.commands.readers_wheel import WHEEL


@pytest.mark.slow
def test_installed_into_an_empty_folder_it_reads_and_compares(capsys, tmp_path):
    call_command("readers_wheel", tmp_path)
    assert capsys.readouterr().out == f"pip install {tmp_path / WHEEL}\n"
    site = tmp_path / "site"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index",
                    "--target", site, tmp_path / WHEEL], check=True)
    logs = [settings.BASE_DIR / "tests" / "samples" / "curves" / name
            for name in ("ng_fp32.log.gz", "ng_bf16.log.gz")]
    start = (f"import sys; sys.path.insert(0, {str(site)!r})\n"
             "from toolreaders.command_line import main; sys.exit(main())")
    for words, shown in ((("read", logs[0]), "training_log"), (("compare", *logs), "passed")):
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", start, *words],
            cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert shown in done.stdout
    assert (site / "bin" / "toolreaders").is_file()
