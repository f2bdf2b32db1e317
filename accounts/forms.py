"""Fields that sign-up asks for beside the email and the password."""

from django import forms
from django.http import HttpRequest

from accounts.models import User


class SignUpName(forms.Form):
    """The person's name, and the zone that their browser reports."""

    name = forms.CharField(max_length=120, label="Your name")
    zone = forms.CharField(max_length=64, required=False, widget=forms.HiddenInput)

    def signup(self, request: HttpRequest, user: User) -> None:
        """Called by allauth once the user exists."""
        user.name = self.cleaned_data["name"]
        user.save(update_fields=["name"])
