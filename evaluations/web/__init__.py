"""The interfaces for people and programs: views, forms, the API and its gate. Thin."""
