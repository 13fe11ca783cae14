from django.urls import path, register_converter

from engagements import stage_views, views


class SignOrRevoke:
    """How a waiver ends its draft."""

    regex = "sign|revoke"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(SignOrRevoke, "sign_or_revoke")
app_name = "engagements"
CELL = "<str:code>/models/<str:model_code>/<str:stage>/"

urlpatterns = [
    path("", views.engagement_list, name="list"),
    path("new/", views.engagement_new, name="new"),
    path("<str:code>/", views.engagement_page, name="engagement"),
    path("<str:code>/edit/", views.engagement_edit, name="edit"),
    path("<str:code>/team/", views.team, name="team"),
    path("<str:code>/team/<int:pk>/remove/", views.member_remove, name="member_remove"),
    path("<str:code>/models/new/", views.model_new, name="model_new"),
    path("<str:code>/models/<str:model_code>/edit/", views.model_edit, name="model_edit"),
    path(CELL, stage_views.stage_page, name="stage"),
    path(CELL + "move/", stage_views.stage_move, name="stage_move"),
    path(CELL + "items/<int:pk>/", stage_views.item_tick, name="item_tick"),
    path(CELL + "waiver/", stage_views.waiver_draft, name="waiver_draft"),
    path(CELL + "waivers/<int:pk>/<sign_or_revoke:way>/", stage_views.waiver_end,
         name="waiver_end"),
]
