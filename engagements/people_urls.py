from django.urls import path

from engagements.views import people

app_name = "people"

urlpatterns = [
    path("password/", people.password, name="password"),
    path("people/", people.people, name="list"),
    path("people/new/", people.person_new, name="new"),
    path("people/<int:pk>/", people.person, name="person"),
    path("customers/", people.customers, name="customers"),
    path("customers/<int:pk>/", people.customer, name="customer"),
]
