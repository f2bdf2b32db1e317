"""Forms about a person: what sign-up asks for beside email and password, and their own page."""

from typing import Any
from zoneinfo import available_timezones

from allauth.core import context
from django import forms
from django.http import HttpRequest

from accounts.adapter import invited_here, sign_up_open
from accounts.invite import is_for, masked
from accounts.models import User

# In the zone data, yet no place: pages that say when something runs refuse them.
_NOT_PLACES = frozenset({"Factory", "localtime", "posixrules"})


def places() -> list[str]:
    """The IANA zones that a person may choose, sorted."""
    return sorted(available_timezones() - _NOT_PLACES)


def known_zone(name: str) -> bool:
    """Whether `name` is an IANA zone of a place that this installation knows."""
    return name in available_timezones() and name not in _NOT_PLACES


class SignUpName(forms.Form):
    """The person's name, and the zone that their browser reports."""

    name = forms.CharField(
        max_length=120,
        label="Your name",
        widget=forms.TextInput(attrs={"autocomplete": "name", "autofocus": True}),
        error_messages={"required": "Write the name that others will see."},
    )
    zone = forms.CharField(
        max_length=64,
        required=False,
        widget=forms.HiddenInput(attrs={"data-browser-zone": ""}),
    )

    def clean_zone(self) -> str:
        """A zone that nobody knows counts as none: the browser wrote it, not the person."""
        zone = str(self.cleaned_data["zone"])
        return zone if known_zone(zone) else "UTC"

    def clean(self) -> dict[str, Any]:
        """Where nobody signs up by themselves, an invitation makes an account of its address."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        invitation = None if sign_up_open() else invited_here(context.request)
        email = cleaned.get("email")
        if invitation is not None and email and not is_for(invitation, email):
            self.add_error(
                "email",
                f"The invitation is for {masked(invitation.email)}. Write that address, or ask "
                f"{invitation.invited_by} to invite this one.",
            )
        return cleaned

    def signup(self, request: HttpRequest, user: User) -> None:
        """Called by allauth once the user exists."""
        user.name = self.cleaned_data["name"]
        user.zone = self.cleaned_data["zone"]
        user.save(update_fields=["name", "zone"])


class AboutMe(forms.ModelForm[User]):
    """What a person may change about themselves."""

    theme = forms.ChoiceField(
        choices=[("system", "As the system"), ("light", "Light"), ("dark", "Dark")],
        widget=forms.RadioSelect,
        label="Theme",
    )
    zone = forms.CharField(
        max_length=64,
        label="Time zone",
        help_text="Times on every page are shown in it. A routine keeps its own.",
        widget=forms.TextInput(attrs={"list": "zones", "autocomplete": "off"}),
        error_messages={"required": "Choose a zone, such as Europe/London."},
    )

    class Meta:
        model = User
        fields = ["name", "zone", "theme", "single_keys"]
        labels = {"name": "Name", "single_keys": "Single keys act"}
        error_messages = {"name": {"required": "Write the name that others will see."}}

    def clean_zone(self) -> str:
        zone = str(self.cleaned_data["zone"]).strip()
        if not known_zone(zone):
            raise forms.ValidationError(
                "There is no zone of that name. Choose one from the list, such as Europe/London."
            )
        return zone
