"""Filters and tags that say the product's facts in its own words."""

from django import template

register = template.Library()
