"""A whole project as one zip of plain files, out and in again: the copy's report is the same to the
last digit."""
