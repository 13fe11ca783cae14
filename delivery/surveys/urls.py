from django.urls import path, re_path

from delivery.surveys.views import consequences, drafts, files, surveys, versions

app_name = "surveys"
HERE = "engagements/<str:code>/survey/"

urlpatterns = [
    path(HERE, surveys.overview, name="overview"),
    path(HERE + "start/", surveys.start, name="start"),
    path(HERE + "comment/", surveys.comment_add, name="comment"),
    path(HERE + "move/<str:move>/", surveys.survey_move, name="move"),
    path(HERE + "sections/<slug:section>/", surveys.section_page, name="section"),
    path(HERE + "consequences/", consequences.consequence_list, name="consequences"),
    path(HERE + "consequences/apply/", consequences.apply, name="consequences_apply"),
    path(HERE + "consequences/decide/", consequences.decide, name="consequences_decide"),
    path(HERE + "version/", versions.newer_version, name="newer_version"),
    path(HERE + "upload/", files.upload, name="upload"),
    path(HERE + "upload/apply/", files.upload_apply, name="upload_apply"),
    re_path(r"^engagements/(?P<code>[^/]+)/survey/(?P<language>zh-hans|en)\.xlsx$",
            files.workbook, name="xlsx"),
    path("questionnaires/", surveys.versions, name="versions"),
    path("questionnaires/new/", surveys.version_new, name="version_new"),
    path("questionnaires/draft/", drafts.draft, name="draft"),
    path("questionnaires/draft/begin/", drafts.draft_begin, name="draft_begin"),
    path("questionnaires/draft/new/", drafts.draft_question, name="draft_question_new"),
    path("questionnaires/draft/questions/<slug:key>/", drafts.draft_question,
         name="draft_question"),
    re_path(r"^questionnaires/draft/questions/(?P<key>[-\w]+)/(?P<move>up|down|remove)/$",
            drafts.draft_edit, name="draft_edit"),
    re_path(r"^questionnaires/draft/(?P<way>publish|discard)/$", drafts.draft_end,
            name="draft_end"),
    path("questionnaires/<int:pk>.json", surveys.version_file, name="version_file"),
]
