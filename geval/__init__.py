"""What judging texts by an LLM, and holding its scores against people's ratings, is made of.

Without Django, a database or a server: `statistics` (agreement as pure functions on arrays),
`texts` (turns, tables and numbers as people and judges read them), `llm` (what an LLM is asked and
says), `evaluators` (what each kind of judge asks or computes), `scales` and `thresholds`.
"""
