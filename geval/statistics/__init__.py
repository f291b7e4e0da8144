"""Agreement of scores and ratings: pure functions on NumPy arrays, NaN for missing values. No
Django."""
