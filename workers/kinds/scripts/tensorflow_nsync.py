"""nsync with full memory barriers for a TensorFlow build on aarch64, entered in its workspace.

Arguments: folder of TensorFlow's source, nsync's archive as the workspace names it. The archive
is checked against the workspace's SHA-256; its four compare-and-swap functions get a barrier; the
new archive is written into the working folder, and the workspace names it by file:// and its own
SHA-256, as the second address. A workspace that names it already is left alone.
"""

import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile

BLOCK = re.compile(r'tf_http_archive\(\s*name = "nsync",.*?\n    \)', re.S)
SHA = re.compile(r'(sha256 = ")([0-9a-f]{64})(")')
URL = re.compile(r'"([^"]+nsync[^"]*\.tar\.gz|file://[^"]+)"')
START = "NSYNC_CPP_START_\n"
BARRIER = "\n#define ATM_CB_() __sync_synchronize()\n"
SWAP = re.compile(r"(atm_cas_(?:nomb|acq|rel|relacq)_u32_ \([^)]*\) \{\s*)return \("
                  r"(std::atomic_compare_exchange_strong_explicit \(.*?\))\);", re.S)
FUNCTIONS = 4
TIME = 0


def stop(text):
    print("desk: " + text, file=sys.stderr)
    sys.exit(3)


def with_barriers(text):
    """The header with a barrier after every compare-and-swap."""
    text, count = SWAP.subn(r"\1int result = (\2);\n\tATM_CB_();\n\treturn result;", text)
    if count != FUNCTIONS or START not in text:
        stop(f"atomic.h has {count} of {FUNCTIONS} functions in the known form")
    return text.replace(START, START + BARRIER, 1)


def patched(path):
    """The archive's bytes with the header changed; times do not enter it."""
    plain, changed = io.BytesIO(), 0
    with tarfile.open(path) as old, tarfile.open(fileobj=plain, mode="w") as new:
        for member in old:
            content = old.extractfile(member).read() if member.isfile() else None
            if member.name.endswith("/platform/c++11/atomic.h"):
                content = with_barriers(content.decode()).encode()
                member.size = len(content)
                changed += 1
            new.addfile(member, io.BytesIO(content) if content is not None else None)
    if changed != 1:
        stop(f"{path} holds {changed} files platform/c++11/atomic.h")
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=TIME) as stream:
        stream.write(plain.getvalue())
    return packed.getvalue()


def main(source, archive):
    place = os.path.join(os.path.expanduser(source), "tensorflow", "workspace2.bzl")
    with open(place, encoding="utf-8") as stream:
        text = stream.read()
    found = BLOCK.search(text)
    if not found or not SHA.search(found[0]) or len(URL.findall(found[0])) < 2:
        stop(place + " does not name nsync in the known form")
    declared = SHA.search(found[0])[2]
    new = os.path.abspath("nsync-with-barriers.tar.gz")
    report = {"desk_report": "tensorflow_nsync", "declared_sha256": declared,
              "functions": FUNCTIONS, "archive": new}
    if "file://" in found[0]:
        report.update(functions=0, archive=URL.findall(found[0])[1])
    else:
        with open(os.path.expanduser(archive), "rb") as stream:
            actual = hashlib.sha256(stream.read()).hexdigest()
        if actual != declared:
            stop(f"the archive has the checksum {actual}, the workspace names {declared}")
        content = patched(os.path.expanduser(archive))
        with open(new, "wb") as stream:
            stream.write(content)
        report["sha256"] = hashlib.sha256(content).hexdigest()
        block = SHA.sub(r"\g<1>" + report["sha256"] + r"\g<3>", found[0], count=1)
        second = URL.findall(block)[1]
        block = block.replace(f'"{second}"', f'"file://{new}"')
        with open(place + ".new", "w", encoding="utf-8") as stream:
            stream.write(text.replace(found[0], block))
        os.rename(place + ".new", place)
    with open("tensorflow_nsync.report.json", "w") as stream:
        json.dump(report, stream, indent=1)
    print(f"desk: nsync {report['archive']}")


main(*sys.argv[1:3])
