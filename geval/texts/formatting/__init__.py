"""Texts as people read them: which format a text has (`kinds`), and what it looks like as safe HTML
(`showing`). Pure. Judges always get a text as it was written."""
