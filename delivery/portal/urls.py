from django.urls import path, re_path

from delivery.portal.audit.views import audit_entry, audit_export, audit_page
from delivery.portal.component_gallery import gallery
from delivery.portal.help.views import guide, guide_chapter, guide_picture
from delivery.portal.home.views import activity, exceptions, home
from delivery.portal.invitations import views as invitations
from delivery.portal.learning import views as learning
from delivery.portal.password_reset.views import ChoosePasswordView, ask
from delivery.portal.portfolio import views as portfolio
from delivery.portal.search.views import search

app_name = "portal"

urlpatterns = [
    path("", home, name="home"),
    path("activity/", activity, name="activity"),
    path("exceptions/", exceptions, name="exceptions"),
    path("portfolio/", portfolio.portfolio, name="portfolio"),
    path("portfolio/charts/", portfolio.charts, name="portfolio_charts"),
    path("portfolio/export/", portfolio.export, name="portfolio_export"),
    path("portfolio/views/", portfolio.view_save, name="view_save"),
    path("portfolio/views/<int:pk>/delete/", portfolio.view_delete, name="view_delete"),
    path("experience/", learning.learning, name="learning"),
    path("experience/cards/", learning.cards, name="cards"),
    path("help/", guide, name="help"),
    path("help/<slug:slug>/", guide_chapter, name="help_chapter"),
    re_path(r"^help/pictures/(?P<folder>zh|en)/(?P<name>[a-z-]+)\.png$", guide_picture,
            name="help_picture"),
    path("search/", search, name="search"),
    path("gallery/", gallery, name="gallery"),
    path("password/link/", ask, name="password_link"),
    path("password/link/<uidb64>/<token>/", ChoosePasswordView.as_view(), name="password_choice"),
    path("people/invite/", invitations.invite, name="invite"),
    path("people/invite/people.xlsx", invitations.invite_list, name="invite_list"),
    path("people/<int:pk>/invite/", invitations.invite_again, name="invite_again"),
    path("invitation/<str:token>/", invitations.invitation, name="invitation"),
    path("audit/", audit_page, name="audit"),
    path("audit/export/", audit_export, name="audit_export"),
    path("audit/<int:pk>/", audit_entry, name="audit_entry"),
]
