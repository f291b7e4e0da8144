"""Export and import a whole project as one zip of plain files that gives exactly the same
report."""
