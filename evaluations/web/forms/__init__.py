"""All input of the pages passes through these forms, one module per subject."""
