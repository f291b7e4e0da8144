"""What annotators gave: progress, agreement, adjudication, downloads, arrays for reports."""
