"""How long `manage.py read` takes for files made to harm it, and how much memory.

    python benchmarks/hostile_files.py

Each file is read in a fresh process. Fails where one takes more than 60 s of processor time or
600 MB, or ends otherwise than with a reading or a sentence.
The files are sparse, packed or at most 200 MB, of which bytes and text are held at once.
"""

import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECONDS, MEGABYTES = 60.0, 600.0
MIB = 2**20


def sparse_line(path: Path) -> None:
    """10 GB of NUL behind the start of a log."""
    path.write_bytes(b" iteration 1/ 2 | lm loss: 1.0E+00 |")
    os.truncate(path, 10 * 10**9)


def long_line(path: Path) -> None:
    path.write_bytes(b"loss step iteration 1/ 2 | " * (200 * MIB // 27))


def endless_gzip(path: Path) -> None:
    """2 GB of one byte, packed to 2 MB, ten times in a row."""
    packed = gzip.compress(bytes(200 * MIB), compresslevel=9)
    path.write_bytes(packed * 100)


def endless_gzip_of_text(path: Path) -> None:
    """2 GB of a log's lines, packed to 10 MB."""
    line = b" iteration 1/ 2 | elapsed time per iteration (ms): 1.0 | lm loss: 1.0E+00 |\n"
    path.write_bytes(gzip.compress(line * (200 * MIB // len(line)), compresslevel=9) * 10)


def deep_json(path: Path) -> None:
    path.write_text("[" * 30_000_000)


def deep_json_of_a_reader(path: Path) -> None:
    path.write_text('{"log_history": ' + '{"a":' * 5_000_000 + "1" + "}" * 5_000_000 + "}")


def workbook_bomb(path: Path) -> None:
    """A sheet that unpacks to 2 GB."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            for _ in range(2000):
                sheet.write(b"<row>" * (MIB // 5))


def entities(path: Path) -> None:
    """A workbook whose XML expands by entities of entities."""
    levels = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE x [<!ENTITY a0 "aaaaaaaaaa">{levels}]><worksheet>&a11;</worksheet>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", bomb)
        archive.writestr("xl/worksheets/sheet1.xml", bomb)


def bars(path: Path) -> None:
    path.write_text("Epoch 0: 5%|x| 1/9 [" * (8 * MIB // 20))


def verl(path: Path) -> None:
    path.write_text("step:1 - " * (8 * MIB // 9))


def spaces(path: Path) -> None:
    path.write_bytes(b"loss:" + b" " * (100 * MIB))


def carriage_returns(path: Path) -> None:
    path.write_bytes(b"\r{'loss': 1.0, 'epoch': 1.0}" * (60 * MIB // 29))


def commas(path: Path) -> None:
    path.write_bytes(b"step,loss" + b"," * (50 * MIB) + b"\n" + b"1,2,\n" * 1000)


def quotes(path: Path) -> None:
    path.write_bytes(b'NPU Name,Bench Name,Result\n"' + b"a\n" * (50 * MIB))


def repeated(line: bytes, megabytes: int = 60) -> bytes:
    return line * (megabytes * MIB // len(line))


def short_records(path: Path) -> None:
    path.write_bytes(repeated(b"step 1 loss 1\n"))


def json_records(path: Path) -> None:
    path.write_bytes(repeated(b'{"step":1,"loss":1}\n'))


def table_records(path: Path) -> None:
    path.write_bytes(b"step,loss\n" + repeated(b"1,1\n"))


def bars_of_records(path: Path) -> None:
    path.write_bytes(b"".join(b"1%%|#| %d/9 [a, loss=1]\r" % n for n in range(2_400_000)))


def progress_totals(path: Path) -> None:
    path.write_bytes(b"{'loss': 1.0}\n" + b"".join(b"1/%d [\r" % n for n in range(5_000_000)))


def packed_records(path: Path) -> None:
    """2 GB of records, packed to a sixtieth."""
    lines = b"".join(b"step %d loss 1\n" % n for n in range(1_000_000))
    path.write_bytes(gzip.compress(lines, compresslevel=9) * (2000 * MIB // len(lines)))


def packed_noise(path: Path) -> None:
    """3 GB of a log that says nothing, packed to a fiftieth."""
    lines = b"".join(b"INFO worker %d: nothing new\n" % (n % 77777) for n in range(1_000_000))
    records = b"".join(b"step %d loss 1\n" % n for n in range(100))
    path.write_bytes(gzip.compress(records) + gzip.compress(lines) * (3000 * MIB // len(lines)))


def json_of_nothing(path: Path) -> None:
    path.write_bytes(b'{"log_history": [' + repeated(b"{},") + b"{}]}")


def json_of_numbers(path: Path) -> None:
    path.write_bytes(b'{"lm loss": [' + repeated(b"0.1,", 200) + b"1]}")


def far_steps(path: Path) -> None:
    path.write_bytes(b"{'loss': 1.0}\n" * 2 + b" 50%|#| 5/1000000000000 [00:01<00:01, 1it/s]\n")


def falling_epochs(path: Path) -> None:
    epochs = (b"{'loss': 1.0, 'epoch': %d}\n" % (1 if n < 300_000 else 2 + n % 2)
              for n in range(600_000))
    path.write_bytes(b"".join(epochs))


def one_value(path: Path) -> None:
    path.write_bytes(b'{"loss": ' + b"9" * (30 * MIB) + b"}")


FILES: list[Callable[[Path], None]] = [
    sparse_line, long_line, endless_gzip, endless_gzip_of_text, deep_json, deep_json_of_a_reader,
    workbook_bomb, entities, bars, verl, spaces, carriage_returns, commas, quotes, short_records,
    json_records, table_records, bars_of_records, progress_totals, packed_records, packed_noise,
    json_of_nothing, json_of_numbers, far_steps, falling_epochs, one_value]


def reading(path: Path) -> tuple[float, float, str]:
    """Seconds of processor time, MB and what was said of one file.

    The memory is VmHWM of proc(5), the most of the new program alone: ru_maxrss of getrusage(2)
    is handed on through execve(2) and may be that of the process which started it.
    """
    code = ("import sys; from django.core.management import call_command\n"
            "import django; django.setup()\n"
            "try: call_command('read', sys.argv[1], '--json')\n"
            "except SystemExit: pass\n"
            "print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0])")
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "delivery.settings"}
    before = _children_seconds()
    try:
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True,
                              text=True, check=True, cwd=ROOT, env=environment, timeout=300)
    except subprocess.TimeoutExpired:
        return _children_seconds() - before, 0.0, "NO END"
    seconds = _children_seconds() - before
    output, peak = done.stdout.splitlines()
    found = json.loads(output)
    return seconds, int(peak) / 1024, (found.get("error") or {}).get("code") or found["kind"]


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    chosen = [make for make in FILES if not sys.argv[1:] or make.__name__ in sys.argv[1:]]
    harmed = 0
    for make in chosen:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "file"
            make(path)
            seconds, megabytes, output = reading(path)
        is_bad = seconds > SECONDS or megabytes > MEGABYTES or output == "NO END"
        harmed += is_bad
        print(f"{make.__name__:24} {seconds:6.1f} s {megabytes:6.0f} MB  {output}"
              f"{'   TOO MUCH' if is_bad else ''}", flush=True)
    return int(harmed > 0)


if __name__ == "__main__":
    sys.exit(main())
