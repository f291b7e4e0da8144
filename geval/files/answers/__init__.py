"""People's answers to items of campaigns: with names instead of ids, as pairs and numbers, compared
with expected answers, and known answers in files. Pure."""
