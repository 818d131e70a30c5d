"""The routes of the OpenAI API: chat completions, responses and models. Each answer is a run."""
