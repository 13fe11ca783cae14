"""Which refusals an operation of the API has; all are problem+json.

What an operation takes says how it can be refused: the table below is the one place.
"""

from collections.abc import Callable
from dataclasses import dataclass

from drf_spectacular.plumbing import ResolvedComponent

from engagements.web.idempotency import HEADER
from engagements.web.preconditions import HEADER as PRECONDITION
from engagements.web.problem_responses import PROBLEM_TYPE

EXTENSION = "x-refusals"  # of `extend_schema`: statuses that the table cannot know
PROBLEM = {
    "type": "object",
    "description": "Why nothing was done (RFC 9457).",
    "properties": {
        "type": {"type": "string", "format": "uri", "example": "urn:delivery-desk:wrong_state"},
        "title": {"type": "string", "description": "For programs; the same in every language.",
                  "example": "wrong_state"},
        "status": {"type": "integer", "example": 409},
        "detail": {"type": "string",
                   "description": "What is wrong and what to do, in the language asked for."},
        "errors": {"description": "Sentences by field of the request, nested as the request is."},
        "codes": {"description": "What is wrong by field, for programs; nested in the same way."},
    },
    "required": ["type", "title", "status", "detail"],
    "additionalProperties": True,
}


@dataclass(frozen=True)
class Request:
    """What of an operation decides on its refusals."""

    method: str
    places: frozenset[str]  # of its parameters: path, query, header
    has_body: bool
    is_anonymous: bool
    sends_file: bool
    declared: frozenset[int]  # further refusals, by the endpoint's extension
    is_conditional: bool  # takes If-Match

    @classmethod
    def of(cls, operation: dict, method: str, is_conditional: bool) -> "Request":
        """From the operation as it is described so far."""
        sent = {media for answer in operation["responses"].values()
                for media in answer.get("content", {})}
        return cls(method=method, has_body="requestBody" in operation,
                   is_conditional=is_conditional,
                   places=frozenset(row["in"] for row in operation.get("parameters", ())),
                   declared=frozenset(operation.pop(EXTENSION, ())),
                   is_anonymous={} in operation.get("security", [{}]),
                   sends_file=bool(sent - {"application/json"}))

    @property
    def is_write(self) -> bool:
        return self.method not in ("GET", "HEAD")


@dataclass(frozen=True)
class Refusal:
    status: int
    meaning: str
    holds: Callable[[Request], bool]


REFUSALS = (
    Refusal(400, "What was sent is not what is described, or a rule speaks against it.",
            lambda request: request.has_body or "query" in request.places or request.is_write),
    Refusal(401, "Nobody is logged in, or the token is unknown, revoked or expired.",
            lambda request: not request.is_anonymous),
    Refusal(403, "Your role, or the scope of the token, does not allow this.",
            lambda request: not request.is_anonymous),
    Refusal(404, "There is no such object among those that you may see.",
            lambda request: bool(request.places) or request.has_body),
    Refusal(409, "The object is in a state in which this cannot be done, or was changed meanwhile.",
            lambda request: request.is_write or request.sends_file),
    Refusal(412, "The object is another than the one whose ETag was sent.",
            lambda request: request.is_conditional),
    Refusal(415, "The request's Content-Type is none of those described.",
            lambda request: request.has_body),
    Refusal(422, "The Idempotency-Key was used for another request.",
            lambda request: request.method == "POST" and not request.is_anonymous),
    Refusal(428, "The object was issued or signed: If-Match has to name what was read.",
            lambda request: request.is_conditional and request.method in ("PATCH", "PUT")),
    Refusal(429, "Asked too often; Retry-After says when to try again.",
            lambda request: not request.is_anonymous),
    Refusal(503, "The database does not answer at the moment; Retry-After says when to try again.",
            lambda _request: True),
)


def idempotency_key(registry) -> dict:
    """The header with which a POST may be sent again."""
    return _component(registry, ResolvedComponent.PARAMETER, HEADER.replace("-", ""), {
        "in": "header", "name": HEADER, "schema": {
            "type": "string", "pattern": "^[!#-~]{1,200}$", "minLength": 1, "maxLength": 200},
        "description": "Makes it safe to send the request again: for 24 hours the same key and "
                       "request get the first one's answer. A UUID, new for each request."})


def if_match(registry) -> dict:
    """The header that names the version which is changed."""
    return _component(registry, ResolvedComponent.PARAMETER, PRECONDITION.replace("-", ""), {
        "in": "header", "name": PRECONDITION, "schema": {
            "type": "string"},
        "description": "The ETag of what was read, or `*`: the object is changed only if it is "
                       "still the same."})


def problem_answers(operation: dict, method: str, registry, *, is_conditional: bool
                    ) -> dict[str, dict]:
    """The refusals of an operation as OpenAPI responses, by status.

    Args:
        operation: OpenAPI operation with parameters, requestBody, security and responses.
        method: HTTP method in capitals.
        registry: drf-spectacular's components; refusals and their shape are put there.
        is_conditional: whether it takes If-Match.
    """
    request = Request.of(operation, method, is_conditional)
    return {str(refusal.status): _component(
        registry, ResolvedComponent.RESPONSE, f"Problem{refusal.status}", {
            "description": refusal.meaning,
            "content": {PROBLEM_TYPE: {"schema": _problem(registry)}}})
        for refusal in REFUSALS
        if refusal.holds(request) or refusal.status in request.declared}


def _problem(registry) -> dict:
    return _component(registry, ResolvedComponent.SCHEMA, "Problem", PROBLEM)


def _component(registry, kind: str, name: str, content: dict) -> dict:
    """A reference to the component, which is put into the registry once."""
    component = ResolvedComponent(name=name, type=kind, object=name, schema=content)
    registry.register_on_missing(component)
    return component.ref
