from django.urls import path

from engagements import people_views as views

app_name = "people"

urlpatterns = [
    path("password/", views.password, name="password"),
    path("people/", views.people, name="list"),
    path("people/new/", views.person_new, name="new"),
    path("people/<int:pk>/", views.person, name="person"),
    path("customers/", views.customers, name="customers"),
    path("customers/<int:pk>/", views.customer, name="customer"),
]
