"""Routes of the inbox and of channels."""

from django.urls import path

from delivery.notices.views import channels, notices

app_name = "notices"
CHANNEL = "notices/channels/<int:pk>/"

urlpatterns = [
    path("notices/", notices.inbox, name="inbox"),
    path("notices/read/", notices.all_read, name="all_read"),
    path("notices/<int:pk>/open/", notices.notice_open, name="open"),
    path("notices/preferences/", notices.preferences, name="preferences"),
    path("notices/channels/", channels.channel_list, name="channels"),
    path("notices/channels/new/", channels.channel_new, name="channel_new"),
    path(CHANNEL, channels.channel_page, name="channel"),
    path(CHANNEL + "edit/", channels.channel_edit, name="channel_edit"),
    path(CHANNEL + "switch/", channels.channel_switch, name="channel_switch"),
    path(CHANNEL + "rotate/", channels.channel_rotate, name="channel_rotate"),
    path(CHANNEL + "replay/", channels.channel_replay, name="channel_replay"),
    path("notices/attempts/<int:pk>/", channels.attempt_page, name="attempt"),
    path(CHANNEL + "test/", channels.channel_test, name="channel_test"),
    path("notices/mails/", channels.mail_log, name="mails"),
    path("notices/dispatches/<int:pk>/again/", channels.dispatch_again, name="again"),
]
