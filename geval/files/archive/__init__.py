"""A project's archive as a format: a zip with one JSON Lines file per kind of record, with names
instead of ids, and a manifest.

`outputs.jsonl`, `ratings.jsonl` and `preferences.jsonl` have the columns that uploads accept. Keys
of endpoints and members are not in an archive; of campaigns it has designs, goals, items, answers
with their history, decisions, and who took part by open links, without their ids. It contains
locks, searches and looks; ratings of locked documents are left out until the last look.

`files` lists the files in their order; `record_file` describes a file, `shapes` the contents of
fields, `record_lines` the conversion between names and ids. The rows of a site's database that they
contain are defined there (evaluations/projects/archive/rows.py).
"""
