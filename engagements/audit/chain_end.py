"""The seal of the log's end, which tells that the newest entries were removed.

Each entry's own seal stays in the table, so it cannot stand for the end: who removes the entries
behind it by SQL would only have to copy it into the chain's row. The end's seal is over other
content, and only that of the end that is there now is kept.

A log of an older version has none until `end_sealing` has verified it. While an upgrade goes on
processes of that version append entries without it; until `older_until` these may follow the entry
that was sealed last.
"""

import hashlib
import hmac

from django.conf import settings

from bundle_verifier.canonical import canonical
from engagements.models import AuditChain, AuditEntry

PURPOSE = "end of the audit log"  # an entry's seal is over hexadecimal digits alone
FIRST_PREVIOUS_HASH = hashlib.sha256(PURPOSE.encode()).hexdigest()  # of a log sealed from the first
OLDER_FIRST_PREVIOUS_HASH = "0" * 64  # of a log that an older version began


def new_chain() -> dict:
    """The columns of a chain without entries."""
    chain = AuditChain(head=FIRST_PREVIOUS_HASH)
    seal(chain)
    return {"head": chain.head, "end_seal": chain.end_seal}


def seal(chain: AuditChain) -> None:
    """Make the chain's newest entry its sealed end; the caller saves the row."""
    chain.end_number = chain.number
    chain.end_seal = _end_seal(chain, chain.head, chain.seal)


def is_sealed(chain: AuditChain) -> bool:
    """Whether the chain's end is the entry that was sealed, or one that an older version wrote
    behind it in time."""
    head, last_seal = chain.head, chain.seal
    if chain.end_number < chain.number and chain.older_until:
        sealed, last = (AuditEntry.objects.filter(pk=number).first()
                        for number in (chain.end_number, chain.number))
        if not (sealed and last and last.at < chain.older_until):
            return False
        head, last_seal = sealed.entry_hash, sealed.seal
    elif chain.end_number != chain.number:
        return False
    return hmac.compare_digest(chain.end_seal, _end_seal(chain, head, last_seal))


def _end_seal(chain: AuditChain, head: str, last_seal: str) -> str:
    """HMAC-SHA256 under AUDIT_KEY of the entry `end_number`, which has this hash and seal."""
    until = chain.older_until and chain.older_until.isoformat()
    facts = canonical([chain.end_number, head, last_seal, until])
    return hmac.new(settings.AUDIT_KEY.encode(), f"{PURPOSE}\n{facts}".encode(),
                    hashlib.sha256).hexdigest()
