"""Checksums of files: `manifest.txt` as sha256sum writes it, and a report in JSON.

Arguments: a folder or the beginning of file names; the report's title.
"""

import glob
import hashlib
import json
import os
import sys

BLOCK = 1 << 20


def digest(path):
    found = hashlib.sha256()
    with open(path, "rb") as stream:
        for block in iter(lambda: stream.read(BLOCK), b""):
            found.update(block)
    return found.hexdigest()


def files_of(what):
    if not os.path.isdir(what):
        return sorted(path for path in glob.glob(glob.escape(what) + "*") if os.path.isfile(path))
    return sorted(os.path.join(folder, name)
                  for folder, _folders, names in os.walk(what) for name in names)


def main(what, title):
    what = os.path.expanduser(what)
    entries = [{"name": os.path.relpath(path, os.path.dirname(what.rstrip("/")) or "."),
                "size": os.path.getsize(path), "sha256": digest(path)} for path in files_of(what)]
    with open("manifest.txt", "w") as stream:
        stream.writelines("{sha256}  {name}\n".format(**entry) for entry in entries)
    with open(title + ".report.json", "w") as stream:
        json.dump({"desk_report": title, "files": entries, "file_count": len(entries),
                   "bytes": sum(entry["size"] for entry in entries)}, stream, indent=1)
    print(f"manifest: {len(entries)} files, {sum(e['size'] for e in entries)} bytes")


main(*sys.argv[1:3])
