"""The doors that clients of the OpenAI API know: chat completions and models. Each answer is a run."""
