"""What a repository says of judges: verdicts in the comment of a pull request, and projects as YAML
files."""
