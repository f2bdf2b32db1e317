"""Registers the accounts app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
