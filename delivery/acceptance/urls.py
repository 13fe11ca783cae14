"""Routes of reviews, signatures, contract terms and the public check of documents."""

from django.urls import path

from delivery.acceptance.views import (
    contract_terms,
    document_verification,
    powers_of_attorney,
    regression,
    retest_comparison,
    review,
    signing,
    third_party_reports,
    warranty,
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
    path(REVIEW + "notice/", contract_terms.notice, name="notice"),
    path(REVIEW + "deemed/", contract_terms.deemed, name="deemed"),
    path(REVIEW + "retest/", retest_comparison.retest, name="retest"),
    path("review-issues/<int:pk>/report/", review.condition_report, name="condition_report"),
    path("review-issues/<int:pk>/close/", review.condition_close, name="condition_close"),
    path("signatures/<int:pk>/scan/", signing.scan, name="scan"),
    path("notice-proofs/<int:pk>/file/", contract_terms.notice_file, name="notice_file"),
    path("engagements/<str:code>/acceptance-terms/", contract_terms.contract_terms,
         name="contract_terms"),
    path("engagements/<str:code>/powers-of-attorney/", powers_of_attorney.powers_of_attorney,
         name="powers_of_attorney"),
    path("powers-of-attorney/<int:pk>/end/", powers_of_attorney.power_of_attorney_end,
         name="power_of_attorney_end"),
    path("powers-of-attorney/<int:pk>/file/", powers_of_attorney.power_of_attorney_file,
         name="power_of_attorney_file"),
    path("engagements/<str:code>/third-party-reports/", third_party_reports.third_party_reports,
         name="third_party_reports"),
    path("third-party-reports/<int:pk>/withdraw/", third_party_reports.withdraw,
         name="third_party_report_withdraw"),
    path("engagements/<str:code>/warranty/", warranty.warranty, name="warranty"),
    path("engagements/<str:code>/regression-runs/", regression.regression_runs,
         name="regression_runs"),
    path("regression-runs/<int:pk>/", regression.regression_run, name="regression_run"),
    path("warranty-claims/<int:pk>/repair/", warranty.repair, name="claim_repair"),
    path("warranty-claims/<int:pk>/close/", warranty.close, name="claim_close"),
    path("verify/", document_verification.verify, name="verify"),
]
