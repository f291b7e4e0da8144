"""Texts as people read them: a text's format (`kinds`), and its rendering as safe HTML (`showing`).
Pure. Judges always get a text as it was written."""
