"""Results of annotation: progress, agreement, adjudication, downloads, arrays for reports."""
