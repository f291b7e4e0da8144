"""What people and programs use: views, forms, the API and its gate. Thin."""
