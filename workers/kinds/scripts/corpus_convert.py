"""Corpus to one JSON object per line, as the preprocessing of Megatron expects it.

Arguments: source (parquet, csv, json lines; a folder of parquet files), output, text column.
"""

import csv
import glob
import hashlib
import json
import os
import sys


def rows_of(path):
    """Records of one file as dictionaries."""
    if path.endswith(".parquet"):
        import pyarrow.parquet

        for batch in pyarrow.parquet.ParquetFile(path).iter_batches(1024):
            for row in batch.to_pylist():
                yield row
    elif path.endswith(".csv"):
        with open(path, newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                yield row
    else:
        with open(path, encoding="utf-8") as stream:
            for line in stream:
                if line.strip():
                    yield json.loads(line)


def main(source, output, column):
    source, output = os.path.expanduser(source), os.path.expanduser(output)
    paths = sorted(glob.glob(os.path.join(source, "*.parquet"))) if os.path.isdir(source) else [
        source]
    os.makedirs(os.path.dirname(output) or ".", exist_ok=True)
    read = written = empty = 0
    found = hashlib.sha256()
    with open(output, "wb") as target:
        for path in paths:
            for row in rows_of(path):
                read += 1
                if column not in row:
                    print(f"row {read} has no column {column}; it has: {', '.join(map(str, row))}")
                    return 2
                empty += not str(row[column] or "").strip()
                line = json.dumps(row, ensure_ascii=False, default=str).encode() + b"\n"
                target.write(line)
                found.update(line)
                written += 1
    with open(output, "rb") as stream:
        rows = sum(1 for _line in stream)
    report = {"desk_report": "corpus", "sources": len(paths), "rows_read": read,
              "rows_written": rows, "empty_texts": empty, "bytes": os.path.getsize(output),
              "sha256": found.hexdigest(), "column": column}
    with open("corpus.report.json", "w") as stream:
        json.dump(report, stream, indent=1)
    print(f"rows read {read}, rows written {rows}, sha256 {report['sha256']}")
    return 0 if written else 3


sys.exit(main(*sys.argv[1:4]))
