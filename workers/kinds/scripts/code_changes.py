"""What was changed by hand: every file and place, as a diff and as a list.

Arguments: folder of the sources, folder of the migrated code, a note. Writes `migrated-code.diff`,
`migrated-code.tar.gz` and `changes.report.json`. Plain Python 3.8, standard library only.
"""

import difflib
import hashlib
import json
import os
import sys
import tarfile

TEXT = (".py", ".sh", ".json", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".txt", ".md", ".cpp",
        ".cc", ".c", ".h", ".hpp", ".cu", ".cmake")
LARGEST = 5 << 20
SKIPPED = {".git", "__pycache__", ".idea", ".vscode", "node_modules"}


def texts(folder):
    """Name below the folder -> lines, of text files; the rest is counted."""
    found, left = {}, 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - SKIPPED)
        for name in sorted(names):
            path = os.path.join(place, name)
            if not name.endswith(TEXT) or os.path.getsize(path) > LARGEST:
                left += 1
                continue
            try:
                with open(path, encoding="utf-8") as stream:
                    found[os.path.relpath(path, folder)] = stream.read().splitlines(True)
            except (OSError, UnicodeDecodeError):
                left += 1
    return found, left


def places(before, after):
    """(line in the new file, removed, added, the first line that differs) of each place."""
    for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if tag != "equal":
            first = (after[c:d] or before[a:b])[0].strip()[:160]
            yield {"line": c + 1, "removed": b - a, "added": d - c, "first": first}


def compared(old, new):
    """Entries of the files that differ, and the whole as a unified diff."""
    entries, diff = [], []
    for name in sorted(set(old) | set(new)):
        before, after = old.get(name, []), new.get(name, [])
        if before == after and name in old and name in new:
            continue
        state = "changed" if name in old and name in new else "added" if name in new else "removed"
        found = list(places(before, after))
        entries.append({"name": name, "state": state, "places": found[:500],
                        "removed": sum(p["removed"] for p in found),
                        "added": sum(p["added"] for p in found), "place_count": len(found)})
        for line in difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"):
            diff.append(line if line.endswith("\n") else line + "\n")
    return entries, diff


def main(source, migrated, note):
    source, migrated = os.path.expanduser(source), os.path.expanduser(migrated)
    for folder in (source, migrated):
        if not os.path.isdir(folder):
            print(f"desk: {folder} is no folder")
            return 2
    (old, left), (new, left_new) = texts(source), texts(migrated)
    entries, diff = compared(old, new)
    with open("migrated-code.diff", "w", encoding="utf-8") as stream:
        stream.writelines(diff)
    with tarfile.open("migrated-code.tar.gz", "w:gz") as archive:
        for name in sorted(new):
            archive.add(os.path.join(migrated, name), name)
    digest = hashlib.sha256("".join(diff).encode()).hexdigest()
    with open("changes.report.json", "w", encoding="utf-8") as stream:
        json.dump({"desk_report": "changes", "note": note, "sha256": digest,
                   "compared": len(set(old) | set(new)), "left_out": left + left_new,
                   "files": entries, "place_count": sum(e["place_count"] for e in entries)},
                  stream, indent=1, ensure_ascii=False)
    print(f"{len(entries)} files differ of {len(set(old) | set(new))} compared")
    return 0


sys.exit(main(*sys.argv[1:4]))
