"""What an LLM is asked and what it answers: endpoints, calls, prompts, replies, scores. No Django."""
