"""`Idempotency-Key`: a POST of the API that is sent again is done once.

After the IETF's draft-ietf-httpapi-idempotency-key-header: the same key and request get the answer
of the first one, another request under that key is refused, and so is one whose first is running.
"""

import base64
import hashlib
import re

from cryptography.fernet import Fernet
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from engagements.models import IdempotentRequest, User
from engagements.models.idempotent_request import KEPT_FOR
from engagements.web.problem_responses import API, problem
from engagements.web.token_authentication import note_use, token_in

HEADER, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"
KEY = re.compile(r'"?[\x21\x23-\x7e]{1,200}"?')
KEPT_HEADERS = ("Content-Type", "Location")
NOT_FINAL = frozenset({401, 408, 429})  # and all from 500 on: to be sent again as it was


class IdempotencyMiddleware:
    """The request and its remembered answer are one transaction: a process that dies in between has
    done neither, and the row's lock, which ended with it, keeps nobody waiting."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        key = request.headers.get(HEADER)
        if key is None or request.method != "POST" or not request.path_info.startswith(API):
            return self.get_response(request)
        if not KEY.fullmatch(key):
            return problem(400, "invalid_idempotency_key", _(
                "%(header)s is 1 to 200 printable characters without a space, such as a UUID."
            ) % {"header": HEADER})
        owner, reach = _account(request)
        if owner is None:  # the endpoint says so, or takes a password
            return self.get_response(request)
        return self._answer_once(request, owner, key.strip('"'), _request_hash(request, reach))

    def _answer_once(self, request, owner: User, key: str, request_hash: str) -> HttpResponse:
        rows = IdempotentRequest.objects.filter(owner=owner, key_hash=_digest("name", key).hex())
        rows.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()
        IdempotentRequest.objects.bulk_create([IdempotentRequest(
            owner=owner, key_hash=_digest("name", key).hex(), request_hash=request_hash)],
            ignore_conflicts=True)
        with transaction.atomic():
            row = rows.select_for_update(skip_locked=True, no_key=True).first()
            if row is None:
                return problem(409, "still_running", _(
                    "The first request with this key is still running."), retry_seconds=1)
            if row.request_hash != request_hash:
                return problem(422, "idempotency_key_reused", _(
                    "This key was used for another request; take a new one for each."))
            if row.status:
                return HttpResponse(_cipher(key).decrypt(bytes(row.body)), status=row.status,
                                    headers={**row.headers, REPLAYED: "true"})
            response = self.get_response(request)
            if response.status_code < 400:
                _keep(row, response, key)
            elif response.status_code >= 500:
                transaction.set_rollback(True)
        if 400 <= response.status_code < 500 and response.status_code not in NOT_FINAL:
            _keep(row, response, key)  # apart: the refusal may have cost the transaction
        return response


def _account(request: HttpRequest) -> tuple[User | None, str]:
    """Who asks, as the endpoint will find out, and what the token that they use may reach."""
    if token := token_in(request):
        note_use(token, request.META.get("REMOTE_ADDR") or None)  # not within the transaction
        return token.owner, f"{token.scope} {token.engagement_id}"
    return (request.user if request.user.is_authenticated else None), "session"


def _request_hash(request: HttpRequest, reach: str) -> str:
    """SHA-256 of what is asked. Forms are read as such: a file in them may be large."""
    found = hashlib.sha256(repr((request.get_full_path(), reach)).encode())
    if request.content_type == "multipart/form-data":
        found.update(repr(sorted(request.POST.lists())).encode())
        for name, file in sorted(request.FILES.items()):
            content = hashlib.sha256()
            for chunk in file.chunks():
                content.update(chunk)
            file.seek(0)
            found.update(repr((name, file.name, content.hexdigest())).encode())
    else:
        found.update(request.body)
    return found.hexdigest()


def _digest(purpose: str, key: str) -> bytes:
    return salted_hmac(f"{__name__}.{purpose}", key, algorithm="sha256").digest()


def _cipher(key: str) -> Fernet:
    """Only who sends the key again can read the answer."""
    return Fernet(base64.urlsafe_b64encode(_digest("answer", key)))


def _keep(row: IdempotentRequest, response: HttpResponse, key: str) -> None:
    if response.streaming:
        return
    row.status = response.status_code
    row.headers = {name: response[name] for name in KEPT_HEADERS if name in response}
    row.body = _cipher(key).encrypt(response.content)
    row.save(update_fields=["status", "headers", "body"])
