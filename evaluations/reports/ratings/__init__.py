"""People's ratings as reports and downloads read them: arrays, weights, marked spans, files."""
