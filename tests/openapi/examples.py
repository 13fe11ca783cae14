"""Requests made up from the OpenAPI description, and what is wrong with the answers.

Schemathesis makes requests that the description allows and others that it does not; its checks hold
the answers against the description. Each request runs in a savepoint that is taken back, so that
all meet the same rows.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import schemathesis
from django.apps import apps
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core.failures import AcceptedNegativeData, Failure, FailureGroup
from schemathesis.specs.openapi import checks

from bundle_verifier.json_limits import MAX_INTEGER
from engagements.models import Role
from engagements.text.printable_text import UNPRINTABLE

SEED = 2026
FORM = "multipart/form-data"
EARLY = re.compile(r"^(0\d|1[0-8])\d\d(?=-\d\d-\d\d)")  # years in which time zones had seconds
PREFIX = "/api/v1/"
MOST_AND_LEAST = {Role.ADMINISTRATOR, Role.REVIEWER}
CHECKS = [schemathesis.checks.not_a_server_error, checks.status_code_conformance,
          checks.content_type_conformance, checks.response_headers_conformance,
          checks.response_schema_conformance, checks.negative_data_rejection]
# Codes of faults that a description tells beforehand. Others lie in the rows that are there
# (`does_not_exist`, `unique`) or are rules with a name of their own.
OF_FORM = frozenset({
    "invalid", "required", "null", "blank", "empty", "min_length", "max_length", "min_value",
    "max_value", "max_digits", "max_decimal_places", "max_whole_digits", "max_string_length",
    "invalid_choice", "not_a_list", "not_a_dict", "incorrect_type", "parse_error", "no_name",
    "bad_request", "date", "datetime", "overflow", "error"})


@dataclass
class Keys:
    """Keys of rows, so that requests meet something: by list of the API, and by name of a table."""

    by_list: dict[str, list]
    by_table: dict[str, list]
    random: Random = field(default_factory=lambda: Random(SEED))

    @classmethod
    def of_database(cls, client, document: dict) -> "Keys":
        """Three of each of what the client sees in the lists that the document describes."""
        by_list = {name: rows for name in _lists(document) if (rows := _keys(client, name))}
        by_table = {table._meta.model_name: keys for table in apps.get_models() if (
            keys := list(table._base_manager.values_list("pk", flat=True)[:3]))}
        return cls(by_list, by_table)

    def put_into(self, case) -> None:
        """Real keys in the places of made-up ones: in the path, and in fields named like a table.

        Fields that are not described are left out: the API takes no notice of them. Texts and
        numbers keep to what the description says once for all requests.
        """
        rows = self.by_list.get(case.operation.path.removeprefix(PREFIX).split("/", 1)[0])
        for place in {"id", "code", "key"} & set(case.path_parameters or ()):
            if rows:
                case.path_parameters[place] = self.random.choice(rows)
        case.query = _within_limits(case.query)
        if "If-Match" in (case.headers or ()):
            case.headers["If-Match"] = "*"  # a made-up version is never that of a row
        case.body = self._real(_within_limits(case.body), _schema_of_body(case))
        if case.media_type == FORM and isinstance(case.body, dict):  # forms have no null
            case.body = {name: value for name, value in case.body.items() if value is not None}

    def _real(self, body: Any, schema: dict) -> Any:
        if isinstance(body, list):
            return [self._real(entry, schema.get("items", {})) for entry in body]
        if not isinstance(body, dict) or "properties" not in schema:
            return body
        return {name: self._key(name, value) for name, value in body.items()
                if name in schema["properties"]}

    def _key(self, name: str, value: Any) -> Any:
        keys = self.by_table.get(name.replace("_", ""))
        return self.random.choice(keys) if keys and type(value) is int else value


def _schema_of_body(case) -> dict:
    """What the document says of the body, without references."""
    document = case.operation.schema.raw_schema
    content = case.operation.definition.raw.get("requestBody", {}).get("content", {})
    schema = content.get(case.media_type, {}).get("schema", {})
    return _resolved(document, {**schema, **({"items": _resolved(document, schema["items"])}
                                             if "items" in schema else {})})


def _resolved(document: dict, schema: dict) -> dict:
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][name] if name else schema


def _within_limits(value: Any) -> Any:
    if type(value) is str:  # a file is another kind of text
        text = UNPRINTABLE.sub("x", value).replace("\0", "x")
        return EARLY.sub("2000", text if text.strip() else text.replace("\n", "x"))
    if isinstance(value, dict):
        return {_within_limits(name): _within_limits(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_within_limits(entry) for entry in value]
    is_large = type(value) is int and abs(value) > MAX_INTEGER
    return value % MAX_INTEGER if is_large else value


def _lists(document: dict) -> set[str]:
    return {path.removeprefix(PREFIX).rstrip("/") for path in document["paths"]
            if path.count("/") == PREFIX.count("/") + 1}


def _keys(client, name: str) -> list:
    answer = client.get(f"{PREFIX}{name}/", {"page_size": 3})
    if answer.status_code != 200:
        return []
    rows = answer.json()
    rows = rows.get("results", []) if isinstance(rows, dict) else rows
    return [row.get("id", row.get("code")) for row in rows if isinstance(row, dict)][:3]


@dataclass
class Findings:
    """What was wrong, by check and operation, with examples; and how much was tried."""

    wrong: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    answers: Counter = field(default_factory=Counter)
    done: set[str] = field(default_factory=set)  # operations that succeeded

    def note(self, check: str, who: str, case, response, sentence: str) -> None:
        request = f"{who}: {case.path_parameters} {case.query} {str(case.body)[:300]}"
        self.wrong[f"{check} {case.method} {case.operation.path}"].append(
            f"{request} → {response.status_code} {sentence} {response.content[:300]!r}")


def try_operations(document: dict, tokens: dict[str, str], keys: Keys, chosen, examples: int
                   ) -> Findings:
    """Sends the first right example of an operation with the API token of everybody in `tokens`,
    the others with those of whoever may most and least.

    Args:
        document: the OpenAPI description.
        chosen: whether an operation (`GET /path/`) is tried.
        examples: right requests of each operation; wrong ones are half as many.
    """
    schema = schemathesis.openapi.from_dict(document)
    schema.app = get_wsgi_application()
    found = Findings()
    with _connection_kept():
        for result in schema.get_all_operations():
            operation = result.ok()
            if chosen(operation.label):
                for mode, number in ((GenerationMode.POSITIVE, examples),
                                     (GenerationMode.NEGATIVE, (examples + 1) // 2)):
                    _try(operation, mode, number, tokens, keys, found)
    return found


def _try(operation, mode, number, tokens, keys, found) -> None:
    @seed(SEED)
    @settings(max_examples=number, database=None, deadline=None, phases=[Phase.generate],
              verbosity=Verbosity.quiet, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case):
        nonlocal is_first
        if mode == GenerationMode.POSITIVE:
            keys.put_into(case)
        elif _is_nothing_sent(case):
            return
        for who in tokens if is_first else MOST_AND_LEAST & tokens.keys() or tokens:
            _send(case, mode, who, tokens[who], found)
        is_first = False

    is_first = mode == GenerationMode.POSITIVE
    try:
        send()
    except Unsatisfiable:  # what takes no input cannot be given a wrong one
        assert mode == GenerationMode.NEGATIVE


def _is_nothing_sent(case) -> bool:
    """Whether what is wrong does not reach the server: an empty list or object is no parameter, and
    nothing but an object has the fields of a form."""
    return any(value in ([], {}) for value in (case.query or {}).values()) or (
        case.media_type == FORM and not (case.body and isinstance(case.body, dict)))


def _send(case, mode, who: str, token: str, found: Findings) -> None:
    headers = {"Authorization": f"Token {token}", "Accept-Language": "en"}
    with transaction.atomic():
        response = case.call(headers=headers)
        transaction.set_rollback(True)
    found.answers[response.status_code] += 1
    if response.status_code < 300:
        found.done.add(case.operation.label)
    try:
        case.validate_response(response, checks=CHECKS, headers=headers)
    except (FailureGroup, Failure) as failed:
        for failure in filter(_is_fault, getattr(failed, "exceptions", [failed])):
            found.note(type(failure).__name__, who, case, response, failure.message[:300])
    if mode == GenerationMode.POSITIVE and response.status_code == 400 and (
            faults := _faults_of_form(response.json(), case.query or {})):
        found.note("RejectedPositiveData", who, case, response, str(faults))


def _is_fault(failure: Failure) -> bool:
    """Other bytes of a file make no wrong request, and Schemathesis says so where it counts one."""
    return not (isinstance(failure, AcceptedNegativeData)
                and "positive test case" in failure.message)


def _faults_of_form(problem: dict, asked: dict) -> list[str]:
    """Faults that the description should have told of: neither rows that are missing nor rules
    of the domain, which have a sentence of their own."""
    if problem["title"] == "invalid_input":
        return []
    codes = problem.get("codes", problem["title"])
    if isinstance(codes, dict):  # a filter by a row that is not there
        codes = {name: found for name, found in codes.items()
                 if not (found == ["invalid_choice"] and type(asked.get(name)) is int)}
    return sorted(set(_texts(codes)) & OF_FORM)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    else:
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _texts(entry)


@contextmanager
def _connection_kept() -> Iterator[None]:
    """The test's transaction outlives the requests, as with Django's test client."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in signals:
            signal.connect(close_old_connections)
