"""Addresses beneath a workspace's routines."""

from django.urls import path
from django.urls.resolvers import URLPattern

from routines_app.web import (
    conversation_anew,
    form_try,
    routine_form,
    routine_list,
    routine_page,
    routine_switch,
    routine_versions,
    run_acts,
    run_page,
    run_text,
    starter_page,
)

urlpatterns: list[URLPattern] = [
    path("", routine_list.routines, name="routines"),
    path("new/", routine_form.new_routine, name="routine_new"),
    path("new/<slug:code>/run/", starter_page.run_starter, name="starter_run"),
    path("schedule/preview", routine_form.schedule_preview, name="schedule_preview"),
    path("check/try/", form_try.check_try, name="check_try"),
    path("check/try/<uuid:key>/", form_try.check_tried, name="check_tried"),
    path("<slug:slug>/", routine_page.routine_page, name="routine"),
    path("<slug:slug>/edit/", routine_form.edit_routine, name="routine_edit"),
    path("<slug:slug>/run/", routine_page.run_now, name="run_now"),
    path("<slug:slug>/on/", routine_switch.switch_on, name="routine_turn_on"),
    path("<slug:slug>/off/", routine_switch.switch_off, name="routine_turn_off"),
    path("<slug:slug>/anew/", conversation_anew.conversation_anew, name="conversation_anew"),
    path("<slug:slug>/versions/", routine_versions.versions, name="routine_versions"),
    path("<slug:slug>/delete/", routine_versions.delete, name="routine_delete"),
    path("<slug:slug>/runs/<int:number>/", run_page.run_page, name="run"),
    path("<slug:slug>/runs/<int:number>/stop/", run_page.stop_run, name="run_stop"),
    path("<slug:slug>/runs/<int:number>/tell/", run_acts.tell_again, name="run_tell_again"),
    path("<slug:slug>/runs/<int:number>/check/", run_acts.check_back, name="run_check_back"),
    path("<slug:slug>/runs/<int:number>/body/", run_text.run_body, name="run_body"),
    path("<slug:slug>/runs/<int:number>/steps/<int:step>/", run_text.run_step, name="run_step"),
]
