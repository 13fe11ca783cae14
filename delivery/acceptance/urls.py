"""Routes of reviews and evidence bundles."""

from django.urls import path

from delivery.acceptance import views

app_name = "acceptance"
REVIEW = "documents/<int:pk>/review/"

urlpatterns = [
    path(REVIEW, views.review, name="review"),
    path(REVIEW + "open/", views.review_open, name="open"),
    path(REVIEW + "comment/", views.review_comment, name="comment"),
    path(REVIEW + "decide/", views.review_decide, name="decide"),
    path(REVIEW + "sign/", views.review_sign, name="sign"),
    path("documents/<int:pk>/bundle/", views.bundle_build, name="bundle_build"),
    path("bundles/<int:pk>/", views.bundle, name="bundle"),
]
