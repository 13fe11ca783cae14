from django.urls import path

from engagements import views

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
    path(CELL, views.stage_page, name="stage"),
    path(CELL + "move/", views.stage_move, name="stage_move"),
    path(CELL + "items/<int:pk>/", views.item_tick, name="item_tick"),
]
