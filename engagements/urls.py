from django.urls import path, register_converter

from engagements.views import endings, engagements, stage_comments, stages


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
    path("", engagements.engagement_list, name="list"),
    path("new/", engagements.engagement_new, name="new"),
    path("<str:code>/", engagements.engagement_page, name="engagement"),
    path("<str:code>/edit/", engagements.engagement_edit, name="edit"),
    path("<str:code>/ending/", endings.ending, name="ending"),
    path("<str:code>/ending/<str:move>/", endings.end, name="end"),
    path("<str:code>/team/", engagements.team, name="team"),
    path("<str:code>/team/<int:pk>/remove/", engagements.member_remove, name="member_remove"),
    path("<str:code>/assign/", engagements.assign, name="assign"),
    path("<str:code>/comment/", engagements.comment, name="comment"),
    path("<str:code>/models/new/", engagements.model_new, name="model_new"),
    path("<str:code>/models/<str:model_code>/edit/", engagements.model_edit, name="model_edit"),
    path(CELL, stages.stage_page, name="stage"),
    path(CELL + "menu/", stage_comments.cell_menu, name="cell_menu"),
    path(CELL + "comments/", stage_comments.stage_comments, name="stage_comments"),
    path(CELL + "move/", stages.stage_move, name="stage_move"),
    path(CELL + "items/<int:pk>/", stages.item_tick, name="item_tick"),
    path(CELL + "waiver/", stages.waiver_draft, name="waiver_draft"),
    path(CELL + "waivers/<int:pk>/<sign_or_revoke:way>/", stages.waiver_end,
         name="waiver_end"),
]
