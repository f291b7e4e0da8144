"""How far scores and ratings agree: pure functions on NumPy arrays, NaN for what is missing. No
Django."""
