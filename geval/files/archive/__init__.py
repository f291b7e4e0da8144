"""A project's archive as a format: a zip with one JSON Lines file per kind of record, with names
instead of ids, and a manifest.

`outputs.jsonl`, `ratings.jsonl` and `preferences.jsonl` have the columns that uploads accept. Keys
of endpoints and members are not in an archive; of campaigns it has designs, goals, items, answers
with their history, decisions, and who took part by open links, without their ids. It has locks,
searches and looks; ratings of locked documents are left out until the last look.

`files` lists the files in their order; `record_file` says what is said of each of them, `shapes`
and `values` what a field holds, `record_reader` how names become ids. Which rows of a site's
database they have is said there (evaluations/projects/archive/rows.py).
"""
