"""Routes of the inbox and of channels."""

from django.urls import path

from delivery.notices import channel_views, views

app_name = "notices"
CHANNEL = "notices/channels/<int:pk>/"

urlpatterns = [
    path("notices/", views.inbox, name="inbox"),
    path("notices/read/", views.all_read, name="all_read"),
    path("notices/<int:pk>/open/", views.notice_open, name="open"),
    path("notices/preferences/", views.preferences, name="preferences"),
    path("notices/channels/", channel_views.channel_list, name="channels"),
    path("notices/channels/new/", channel_views.channel_new, name="channel_new"),
    path(CHANNEL, channel_views.channel_page, name="channel"),
    path(CHANNEL + "edit/", channel_views.channel_edit, name="channel_edit"),
    path(CHANNEL + "switch/", channel_views.channel_switch, name="channel_switch"),
    path(CHANNEL + "test/", channel_views.channel_test, name="channel_test"),
    path("notices/mails/", channel_views.mail_log, name="mails"),
    path("notices/dispatches/<int:pk>/again/", channel_views.dispatch_again, name="again"),
]
