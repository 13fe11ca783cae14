"""A customer signs with a passkey: made on the account's page, asked for by the signing page.

Second factors are off by default: the walk runs in a process of tests whose settings have them.
"""

import hashlib
import json
import os
import subprocess
import sys

import pytest
from django.conf import settings
from fido2.cose import CoseKey
from fido2.utils import websafe_decode
from fido2.webauthn import AttestedCredentialData

from delivery.acceptance import services
from delivery.acceptance.models import Identification
from delivery.demo.sample_firm import PASSWORD
from delivery.reports import services as reporting
from delivery.sign_on.settings import HAS_SECOND_FACTOR
from engagements.models import AuditEntry, Role
from tests.browser.conftest import Visitor
from tests.browser.test_review import SIZES, Hand, open_version
from tests.delivery.conftest import deliver

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WALK = "test_a_passkey_is_made_and_signs"
SHOW = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
        "hasUserVerification": True, "isUserVerified": True,
        "automaticPresenceSimulation": True}


@pytest.mark.skipif(HAS_SECOND_FACTOR, reason="runs inside itself")
def test_the_walk_in_a_portal_with_second_factors(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist",
         "-m", "browser", "--basetemp", str(tmp_path / "walk"), f"{__file__}::{WALK}"],
        cwd=settings.BASE_DIR, capture_output=True, text=True, check=False,
        env={**os.environ, "DESK_SECOND_FACTOR": "true"})
    assert done.returncode == 0, done.stdout[-6000:]
    assert "2 passed" in done.stdout


@pytest.fixture
def decided(quick_pages, engagement, people_with_mail):
    deliver(engagement, people_with_mail)
    review = open_version(people_with_mail, reporting.draft_acceptance(
        actor=people_with_mail[Role.MANAGER], engagement=engagement)).review
    services.decide(actor=people_with_mail[Role.REVIEWER], review=review, decision="accepted")
    return review


class Authenticator:
    """Chromium's own: a finger that is always there, until it is taken away."""

    def __init__(self, page):
        self.tools = page.context.new_cdp_session(page)
        self.tools.send("WebAuthn.enable")
        self.id = self.tools.send("WebAuthn.addVirtualAuthenticator", {"options": SHOW})[
            "authenticatorId"]

    def knows_its_owner(self, is_known: bool) -> None:
        self.tools.send("WebAuthn.setUserVerified", {
            "authenticatorId": self.id, "isUserVerified": is_known})


@pytest.mark.skipif(not HAS_SECOND_FACTOR, reason="run by test_the_walk_in_a_portal_…")
@pytest.mark.parametrize(("size", "language"), [("phone", "zh-CN"), ("desk", "en-US")])
def test_a_passkey_is_made_and_signs(chromium, live_server, decided, size, language):
    visitor = Visitor(chromium, live_server.url, language=language, size=SIZES[size])
    hand = Hand(visitor, f"{size}-passkey")
    page, signing = hand.page, f"/documents/{decided.document_id}/review/signing/"
    finger = Authenticator(page)
    visitor.open("/login/")
    page.fill("#id_login", "reviewer")
    page.fill("#id_password", PASSWORD)
    hand.click("form[novalidate] button[type=submit]", leads_on=True)

    hand.go(signing)  # before there is one, none is offered
    assert not page.locator("button[value=passkey]").count()
    hand.go("/account/second-factor/")
    hand.click("main a[href*='/webauthn/']", leads_on=True)
    page.fill("#id_password", PASSWORD)  # whoever adds one shows again who it is
    hand.click("form:has(#id_password) button", leads_on=True)
    page.check("#id_passwordless")
    hand.click("#mfa_webauthn_add", leads_on=True)

    hand.go(signing)
    if page.locator("#id_capacity").count():
        hand.type("#id_capacity", "信息中心主任")
    hand.click("button[value=passkey]", leads_on=True)
    assert not page.locator("#id_code").count()
    button = "form[action$='/sign/'] button.btn-primary"
    finger.knows_its_owner(False)
    hand.click(button)
    page.locator("[data-desk-passkey-refused]").wait_for()
    assert not decided.signatures.exists()
    finger.knows_its_owner(True)
    hand.click(button, leads_on=True)

    signature = decided.signatures.get()
    assert (signature.identification.way, signature.identification.attempts) == ("passkey", 0)
    assert holds(signature.identification)
    assert AuditEntry.objects.filter(action="document.sign").count() == 1
    assert hand.faults == []


def holds(found: Identification) -> bool:
    """What is kept shows by itself that this passkey signed this hash; no code of ours is asked."""
    answer = found.proof["answer"]["response"]
    client, data, signature = (websafe_decode(answer[name]) for name in (
        "clientDataJSON", "authenticatorData", "signature"))
    key = AttestedCredentialData(bytes.fromhex(found.proof["public_key"])).public_key
    CoseKey.parse(key).verify(data + hashlib.sha256(client).digest(), signature)
    challenge = hashlib.sha256(f"{found.salt}:{found.statement_hash}".encode()).digest()
    return websafe_decode(json.loads(client)["challenge"]) == challenge
