"""Kinds and families of a project's systems, and families of its judges, on one page."""

from django import forms

from evaluations.models import Judge, System

SystemFormSet = forms.modelformset_factory(System, fields=("kind", "family"), extra=0)
JudgeFormSet = forms.modelformset_factory(Judge, fields=("family",), extra=0)
