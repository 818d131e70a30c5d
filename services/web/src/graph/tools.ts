// Answers of the graph's tools.
import { Problem } from '../api/client';
import { told } from '../i18n';

/** Returns a type of entities or relations in words. */
export const typeInWords = (type: string): string => told(`type.${type}`, type.replaceAll('_', ' ').toLowerCase());

interface Answered<Result> {
  success: boolean;
  result?: Result | null;
  error?: string | null;
  suggestions?: string[];
  documents_pending?: number | null;
}

/** A tool's refusal, with known names that may be meant, and how many documents the graph does not have yet. */
export class NotAnswered extends Problem {
  readonly suggestions: string[];
  readonly pending: number;

  constructor(message: string, suggestions: string[], pending: number) {
    super(404, { detail: message }); // asked again it would say the same
    this.suggestions = suggestions;
    this.pending = pending;
  }
}

/** Returns the result of a tool and how many documents may change it; rejects with NotAnswered if there is none. */
export async function answered<Result>(answer: Promise<Answered<Result>>): Promise<Result & { pending: number }> {
  const { result, error, suggestions = [], documents_pending } = await answer;
  const pending = documents_pending ?? 0;
  if (result) return { ...result, pending };
  throw new NotAnswered(error ?? '', suggestions, pending);
}
