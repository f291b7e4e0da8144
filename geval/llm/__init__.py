"""Ask LLMs and read their answers: endpoints, calls, prompts, replies, scores. No Django."""
