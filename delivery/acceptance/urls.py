"""Routes of reviews, signatures, verification and evidence bundles."""

from django.urls import path

from delivery.acceptance.views import (
    bundles,
    contract,
    powers_of_attorney,
    public,
    retest,
    review,
    signing,
    third_party,
)

app_name = "acceptance"
REVIEW = "documents/<int:pk>/review/"

urlpatterns = [
    path(REVIEW, review.review, name="review"),
    path(REVIEW + "open/", review.review_open, name="open"),
    path(REVIEW + "comment/", review.review_comment, name="comment"),
    path(REVIEW + "receipt/", review.review_receipt, name="receipt"),
    path("review-comments/<int:pk>/resolve/", review.comment_resolve, name="comment_resolve"),
    path(REVIEW + "decide/", review.review_decide, name="decide"),
    path(REVIEW + "signing/", signing.signing, name="signing"),
    path(REVIEW + "identify/", signing.identify, name="identify"),
    path(REVIEW + "sign/", signing.review_sign, name="sign"),
    path(REVIEW + "decline/", signing.decline, name="decline"),
    path(REVIEW + "signers/", signing.signers, name="signers"),
    path(REVIEW + "notice/", contract.notice, name="notice"),
    path(REVIEW + "deemed/", contract.deemed, name="deemed"),
    path(REVIEW + "retest/", retest.retest, name="retest"),
    path("review-issues/<int:pk>/report/", review.condition_report, name="condition_report"),
    path("review-issues/<int:pk>/close/", review.condition_close, name="condition_close"),
    path("signatures/<int:pk>/scan/", signing.scan, name="scan"),
    path("notice-proofs/<int:pk>/file/", contract.notice_file, name="notice_file"),
    path("engagements/<str:code>/acceptance-terms/", contract.terms, name="terms"),
    path("engagements/<str:code>/powers-of-attorney/", powers_of_attorney.powers, name="powers"),
    path("powers-of-attorney/<int:pk>/end/", powers_of_attorney.power_end, name="power_end"),
    path("powers-of-attorney/<int:pk>/file/", powers_of_attorney.power_file, name="power_file"),
    path("engagements/<str:code>/third-party-reports/", third_party.reports, name="third_party"),
    path("third-party-reports/<int:pk>/withdraw/", third_party.withdraw,
         name="third_party_withdraw"),
    path("documents/<int:pk>/bundle/", bundles.bundle_build, name="bundle_build"),
    path("bundles/<int:pk>/", bundles.bundle, name="bundle"),
    path("verify/", public.verify, name="verify"),
]
