"""Makes `desk_client`, the typed client, of the API's OpenAPI document.

    python generate.py [--schema FILE] [--out FOLDER]
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parent / "docs" / "openapi.yaml"
METHODS = {"get", "post", "put", "patch", "delete"}
JSON = "application/json"
BYTES = "application/octet-stream"
PROBLEM = "application/problem+json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schema", type=Path, default=SCHEMA, help="OpenAPI document")
    parser.add_argument("--out", type=Path, default=HERE / "desk_client", help="package to write")
    wanted = parser.parse_args()
    make(wanted.schema, wanted.out)


def make(schema: Path, out: Path) -> None:
    """Write the package. Raises CalledProcessError where the generator warns of anything."""
    document = arranged(yaml.safe_load(schema.read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as folder:
        source, config = Path(folder) / "schema.json", Path(folder) / "config.json"
        source.write_text(json.dumps(document), encoding="utf-8")
        config.write_text(json.dumps({
            "post_hooks": [],
            "content_type_overrides": {**dict.fromkeys(_file_types(document), BYTES),
                                       PROBLEM: JSON}}))
        subprocess.run([
            sys.executable, "-m", "openapi_python_client", "generate", "--path", str(source),
            "--config", str(config), "--meta", "none", "--output-path", str(out), "--overwrite",
            "--fail-on-warning"], check=True, stdout=sys.stderr)


def arranged(document: dict) -> dict:
    """The document as a client wants it: a module for each kind of object, functions without the
    version in their names, JSON where the API takes several encodings. A refusal is parsed as
    `Problem`.
    """
    for path, operations in document["paths"].items():
        for method in METHODS & set(operations):
            operation = operations[method]
            operation["operationId"] = operation["operationId"].removeprefix("v1_")
            operation["tags"] = [_object_of(path)]
            body = operation.get("requestBody", {}).get("content", {})
            if JSON in body:
                operation["requestBody"]["content"] = {JSON: body[JSON]}
            operation["security"] = [each for each in operation.get("security", []) if each]
    return _without_clashes(document)


def _without_clashes(document: dict) -> dict:
    """Objects that have a property of their own name get another: the generator would use one
    variable for both."""
    schemas = document["components"]["schemas"]
    clashing = {name for name, schema in schemas.items() if name.lower() in {
        key.replace("_", "") for key in schema.get("properties", {})}}
    text = json.dumps(document)
    for name in clashing:
        text = text.replace(f'"#/components/schemas/{name}"', f'"#/components/schemas/{name}Row"')
    document = json.loads(text)
    document["components"]["schemas"] = {
        f"{name}Row" if name in clashing else name: schema
        for name, schema in document["components"]["schemas"].items()}
    return document


def _object_of(path: str) -> str:
    """`/api/v1/job-kinds/{code}/` is about `job_kinds`."""
    words = [word for word in path.split("/") if word not in ("", "api", "v1")]
    return words[0].replace("-", "_")


def _file_types(document: dict) -> set[str]:
    """Types of answers that are files."""
    return {kind for operations in document["paths"].values() for method, operation in
            operations.items() if method in METHODS
            for answer in operation["responses"].values() for kind, content in
            answer.get("content", {}).items()
            if content.get("schema", {}).get("format") == "binary" and kind != BYTES}


if __name__ == "__main__":
    main()
