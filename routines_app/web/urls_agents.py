"""Addresses of a workspace's agents and of the models that they use."""

from django.urls import path
from django.urls.resolvers import URLPattern

from routines_app.web import agents, model_pages

urlpatterns: list[URLPattern] = [
    path("", agents.roster, name="agents"),
    path("models/", model_pages.models, name="models"),
    path("models/add/", model_pages.model_add, name="model_add"),
    path("models/<uuid:key>/test/", model_pages.model_test, name="model_test"),
    path("models/<uuid:key>/price/", model_pages.model_price, name="model_price"),
    path("models/<uuid:key>/remove/", model_pages.model_remove, name="model_remove"),
    path("<slug:slug>/", agents.agent, name="agent"),
]
