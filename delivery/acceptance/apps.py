from django.apps import AppConfig


class AcceptanceConfig(AppConfig):
    name = "delivery.acceptance"
    label = "acceptance"

    def ready(self) -> None:
        from delivery.acceptance import checks  # noqa: F401  registers the gate check
        from delivery.acceptance import models as own
        from engagements.vouching import vouch_for

        vouch_for(own.AcceptanceTerms, own.Condition, own.EvidenceBundle, own.ModelDecision,
                  own.NoticeProof, own.PowerOfAttorney, own.Receipt, own.Review,
                  own.ReviewComment, own.Seal, own.Signature, own.Signer, own.ThirdPartyReport)
        vouch_for(own.Identification, without=["salt", "code_hash", "attempts"])
