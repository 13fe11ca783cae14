from django.urls import path, re_path

from delivery.quotes import draft_views, price_views, views

app_name = "quotes"

urlpatterns = [
    path("quotes/", views.quote_list, name="list"),
    path("quotes/company/", price_views.company, name="company"),
    path("quotes/prices/", price_views.rate_cards, name="rate_cards"),
    path("quotes/prices/<int:pk>/", price_views.rate_card, name="rate_card"),
    path("quotes/prices/<int:pk>/close/", price_views.rate_card_close, name="rate_card_close"),
    path("quotes/prices/import/", price_views.import_new, name="import_new"),
    path("quotes/prices/import/<int:pk>/", price_views.import_page, name="import"),
    path("quotes/prices/import/<int:pk>/confirm/", price_views.import_confirm,
         name="import_confirm"),
    path("quotes/prices/import/<int:pk>/discard/", price_views.import_discard,
         name="import_discard"),
    path("engagements/<str:code>/quotes/", views.engagement_quotes, name="engagement"),
    path("engagements/<str:code>/quotes/new/", views.quote_new, name="new"),
    path("quotes/<int:pk>/", views.quote_page, name="quote"),
    path("quotes/<int:pk>/compare/<int:other>/", views.compare_page, name="compare"),
    path("quotes/<int:pk>/lines/", draft_views.line_add, name="line_add"),
    path("quotes/<int:pk>/lines/new/", draft_views.line_new, name="line_new"),
    path("quotes/<int:pk>/lines/<int:line>/", draft_views.line_edit, name="line_edit"),
    path("quotes/<int:pk>/resources/", draft_views.resources_add, name="resources_add"),
    path("quotes/<int:pk>/lines/<int:line>/remove/", draft_views.line_remove, name="line_remove"),
    path("quotes/<int:pk>/terms/", draft_views.terms, name="terms"),
    path("quotes/<int:pk>/payment/", draft_views.payment, name="payment"),
    path("quotes/<int:pk>/conditions/", draft_views.conditions, name="conditions"),
    path("quotes/<int:pk>/version/", views.version_new, name="version_new"),
    path("quotes/<int:pk>/<str:move>/", views.quote_move, name="move"),
    re_path(r"^quotes/(?P<pk>\d+)/file/(?P<language>zh-hans|en)\.pdf$", views.pdf, name="pdf"),
    re_path(r"^quotes/(?P<pk>\d+)/file/(?P<language>zh-hans|en)\.xlsx$", views.xlsx, name="xlsx"),
]
