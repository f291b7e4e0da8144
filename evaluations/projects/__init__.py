"""Operations on whole projects: archive, restore, delete, export and import."""
