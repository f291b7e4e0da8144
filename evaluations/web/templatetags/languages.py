"""Texts that their owners wrote in several languages."""

from django import template

from evaluations.people.languages import own_name

register = template.Library()
register.filter(own_name)
