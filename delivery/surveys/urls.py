from django.urls import path, re_path

from delivery.surveys import consequence_views, draft_views, file_views, version_views, views

app_name = "surveys"
HERE = "engagements/<str:code>/survey/"

urlpatterns = [
    path(HERE, views.overview, name="overview"),
    path(HERE + "start/", views.start, name="start"),
    path(HERE + "comment/", views.comment_add, name="comment"),
    path(HERE + "move/<str:move>/", views.survey_move, name="move"),
    path(HERE + "sections/<slug:section>/", views.section_page, name="section"),
    path(HERE + "follows/", consequence_views.follows, name="follows"),
    path(HERE + "follows/apply/", consequence_views.follows_apply, name="follows_apply"),
    path(HERE + "follows/decide/", consequence_views.follows_decide, name="follows_decide"),
    path(HERE + "version/", version_views.newer_version, name="newer_version"),
    path(HERE + "upload/", file_views.upload, name="upload"),
    path(HERE + "upload/apply/", file_views.upload_apply, name="upload_apply"),
    re_path(r"^engagements/(?P<code>[^/]+)/survey/(?P<language>zh-hans|en)\.xlsx$",
            file_views.workbook, name="xlsx"),
    path("questionnaires/", views.versions, name="versions"),
    path("questionnaires/new/", views.version_new, name="version_new"),
    path("questionnaires/draft/", draft_views.draft, name="draft"),
    path("questionnaires/draft/begin/", draft_views.draft_begin, name="draft_begin"),
    path("questionnaires/draft/new/", draft_views.draft_question, name="draft_question_new"),
    path("questionnaires/draft/questions/<slug:key>/", draft_views.draft_question,
         name="draft_question"),
    re_path(r"^questionnaires/draft/questions/(?P<key>[-\w]+)/(?P<move>up|down|remove)/$",
            draft_views.draft_edit, name="draft_edit"),
    re_path(r"^questionnaires/draft/(?P<way>publish|discard)/$", draft_views.draft_end,
            name="draft_end"),
    path("questionnaires/<int:pk>.json", views.version_file, name="version_file"),
]
