from django.urls import path, re_path

from delivery.quotes.views import answers, drafts, frameworks, prices, quotes

app_name = "quotes"

urlpatterns = [
    path("quotes/", quotes.quote_list, name="list"),
    path("quotes/discount-limits/", prices.discount_limits, name="discount_limits"),
    path("quotes/prices/", prices.rate_cards, name="rate_cards"),
    path("quotes/prices/<int:pk>/", prices.rate_card, name="rate_card"),
    path("quotes/prices/<int:pk>/close/", prices.rate_card_close, name="rate_card_close"),
    path("quotes/prices/import/", prices.import_new, name="import_new"),
    path("quotes/prices/import/<int:pk>/", prices.import_page, name="import"),
    path("quotes/prices/import/<int:pk>/confirm/", prices.import_confirm,
         name="import_confirm"),
    path("quotes/prices/import/<int:pk>/discard/", prices.import_discard,
         name="import_discard"),
    path("quotes/frameworks/", frameworks.frameworks, name="frameworks"),
    path("quotes/frameworks/new/", frameworks.framework_new, name="framework_new"),
    path("quotes/frameworks/<int:pk>/", frameworks.framework, name="framework"),
    path("engagements/<str:code>/quotes/call-off/", frameworks.call_off, name="call_off"),
    path("engagements/<str:code>/quotes/", quotes.engagement_quotes, name="engagement"),
    path("engagements/<str:code>/quotes/new/", quotes.quote_new, name="new"),
    path("quotes/outcomes/", answers.outcomes, name="outcomes"),
    path("quotes/answers/<int:pk>/check/", answers.answer_check, name="answer_check"),
    path("quotes/answers/<int:pk>/file/", answers.answer_file, name="answer_file"),
    path("quotes/<int:pk>/", quotes.quote_page, name="quote"),
    path("quotes/<int:pk>/answers/new/", answers.answer_new, name="answer_new"),
    path("quotes/<int:pk>/compare/<int:other>/", quotes.compare_page, name="compare"),
    path("quotes/<int:pk>/lines/", drafts.line_add, name="line_add"),
    path("quotes/<int:pk>/lines/new/", drafts.line_new, name="line_new"),
    path("quotes/<int:pk>/lines/<int:line>/", drafts.line_edit, name="line_edit"),
    path("quotes/<int:pk>/resources/", drafts.resources_add, name="resources_add"),
    path("quotes/<int:pk>/lines/<int:line>/remove/", drafts.line_remove, name="line_remove"),
    path("quotes/<int:pk>/terms/", drafts.terms, name="terms"),
    path("quotes/<int:pk>/payment/", drafts.payment, name="payment"),
    path("quotes/<int:pk>/conditions/", drafts.conditions, name="conditions"),
    path("quotes/<int:pk>/copy/", drafts.copy, name="copy"),
    path("quotes/<int:pk>/version/", quotes.version_new, name="version_new"),
    path("quotes/<int:pk>/<str:move>/", quotes.quote_move, name="move"),
    re_path(r"^quotes/(?P<pk>\d+)/file/(?P<language>zh-hans|en)\.pdf$", quotes.pdf, name="pdf"),
    re_path(r"^quotes/(?P<pk>\d+)/file/(?P<language>zh-hans|en)\.xlsx$", quotes.xlsx, name="xlsx"),
]
