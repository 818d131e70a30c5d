// Answers of the graph's tools.

interface Answered<Result> {
  success: boolean;
  result?: Result | null;
  error?: string | null;
  suggestions?: string[];
}

/** A tool's refusal, with known names that may be meant. */
export class NotAnswered extends Error {
  readonly suggestions: string[];

  constructor(message: string, suggestions: string[]) {
    super(message);
    this.suggestions = suggestions;
  }
}

/** Returns the result of a tool; rejects with NotAnswered if there is none. */
export async function answered<Result>(answer: Promise<Answered<Result>>): Promise<Result> {
  const { result, error, suggestions = [] } = await answer;
  if (result) return result;
  throw new NotAnswered(error ?? '', suggestions);
}
