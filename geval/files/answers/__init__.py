"""Answers of people to items of campaigns: with names in the place of ids, as pairs and numbers,
against what is expected, and known answers in files. Pure."""
