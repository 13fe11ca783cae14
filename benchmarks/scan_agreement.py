"""Agreement of the source scan with the genuine analysis tool on the same sources.

python benchmarks/scan_agreement.py REPORT_FOLDER SOURCE_FOLDER [REPORT_FOLDER SOURCE_FOLDER …]

REPORT_FOLDER holds the tool's `unsupported_api.csv`, `unknown_api.csv` and `cuda_op_list.csv`.
Places are compared by file and line; native operators by file only.
"""

import csv
import os
import sys
from pathlib import Path

BLOCKING = {"unsupported_api"}
UNKNOWN = {"cuda_call", "private_api", "library", "dynamic_shape"}
NATIVE = {"cuda_extension", "cuda_kernel"}


def places(folder: Path, name: str) -> set[tuple[str, int]]:
    """(file, line) of each row; line 0 where the report names none."""
    path = folder / name
    if not path.exists():
        return set()
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    return {(row[0], int(row[1]) if row[1].isdigit() else 0) for row in rows if len(row) > 1}


def main(arguments: list[str]) -> None:
    """Print, per source and report, how many places both, only we, only the tool found."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "delivery.settings")
    from toolreaders.scan import scan_path

    for report, source in zip(arguments[::2], arguments[1::2], strict=True):
        ours = scan_path(source).findings
        for name, checks in (("unsupported_api.csv", BLOCKING), ("unknown_api.csv", UNKNOWN),
                             ("cuda_op_list.csv", NATIVE)):
            theirs = places(Path(report), name)
            mine = {(f.file, 0 if checks is NATIVE else f.line)
                    for f in ours if f.check in checks}
            print(f"{Path(source).name} {name}: both {len(mine & theirs)}, "
                  f"only ours {len(mine - theirs)}, only theirs {len(theirs - mine)}")
            for file, line in sorted(theirs - mine):
                print(f"    only theirs {file}:{line}")


if __name__ == "__main__":
    main(sys.argv[1:])
