from django.urls import path, re_path

from delivery.quotes import views

app_name = "quotes"

urlpatterns = [
    path("quotes/", views.quote_list, name="list"),
    path("quotes/prices/", views.rate_cards, name="rate_cards"),
    path("engagements/<str:code>/quotes/", views.engagement_quotes, name="engagement"),
    path("engagements/<str:code>/quotes/new/", views.quote_new, name="new"),
    path("quotes/<int:pk>/", views.quote_page, name="quote"),
    path("quotes/<int:pk>/lines/", views.line_add, name="line_add"),
    path("quotes/<int:pk>/resources/", views.resources_add, name="resources_add"),
    path("quotes/<int:pk>/lines/<int:line>/remove/", views.line_remove, name="line_remove"),
    path("quotes/<int:pk>/terms/", views.terms, name="terms"),
    path("quotes/<int:pk>/version/", views.version_new, name="version_new"),
    path("quotes/<int:pk>/<str:move>/", views.quote_move, name="move"),
    re_path(r"^quotes/(?P<pk>\d+)/file/(?P<language>zh-hans|en)\.pdf$", views.pdf, name="pdf"),
    re_path(r"^quotes/(?P<pk>\d+)/file/(?P<language>zh-hans|en)\.xlsx$", views.xlsx, name="xlsx"),
]
