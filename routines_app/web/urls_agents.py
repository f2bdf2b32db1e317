"""Addresses of a workspace's agents, and of the models and apps that they use."""

from django.urls import path
from django.urls.resolvers import URLPattern

from routines_app.web import (
    agent_page,
    agents,
    app_pages,
    app_sign_in,
    model_key_pages,
    model_pages,
)

urlpatterns: list[URLPattern] = [
    path("", agents.roster, name="agents"),
    path("new/", agent_page.agent_new, name="agent_new"),
    path("models/", model_pages.models, name="models"),
    path("models/words/", model_pages.model_words, name="model_words"),
    path("models/add/", model_pages.model_add, name="model_add"),
    path("models/<uuid:key>/test/", model_pages.model_test, name="model_test"),
    path("models/<uuid:key>/key/", model_key_pages.model_key, name="model_key"),
    path("models/<uuid:key>/price/", model_key_pages.model_price, name="model_price"),
    path("models/<uuid:key>/remove/", model_key_pages.model_remove, name="model_remove"),
    path("apps/", app_pages.apps, name="apps"),
    path("apps/add/", app_pages.app_add, name="app_add"),
    path("apps/<uuid:key>/test/", app_pages.app_test, name="app_test"),
    path("apps/<uuid:key>/tools/", app_pages.app_tools, name="app_tools"),
    path("apps/<uuid:key>/sign-in/", app_sign_in.app_sign_in, name="app_sign_in"),
    path("apps/<uuid:key>/remove/", app_pages.app_remove, name="app_remove"),
    path("<slug:slug>/", agent_page.agent, name="agent"),
    path("<slug:slug>/versions/<int:number>/", agent_page.agent_version, name="agent_version"),
    path("<slug:slug>/back/", agent_page.agent_back, name="agent_back"),
    path("<slug:slug>/delete/", agent_page.agent_delete, name="agent_delete"),
]
