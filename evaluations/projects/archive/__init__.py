"""Export and import a whole project as one zip of plain files, with exactly the same report."""
