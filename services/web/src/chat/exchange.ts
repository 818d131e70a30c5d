// The questions and answers to be shown: what is stored, and the turn that is running. Pure.
import type { Schemas } from '../api/client';
import type { Turn } from './turn';

/** `key` stays when the stored answer takes the place of the streamed one, so that nothing on the screen moves. */
export interface Shown {
  key: string;
  role: Schemas['MessageRole'];
  content: string;
  runId: string | undefined;
  citations: Schemas['Citation'][];
  removed: number;
  mode: Schemas['AnswerMode'] | undefined;
  notes: string[];
  /** The turn, for an answer that was followed on this page. */
  turn: Turn | undefined;
}

type Runs = ReadonlyMap<string, Schemas['Run']>;
const QUESTION = { citations: [], removed: 0, mode: undefined, notes: [], turn: undefined };

/** Joins stored messages, the question just asked and the running turn, each once. */
export function exchange(
  messages: readonly Schemas['Message'][],
  runs: Runs | undefined,
  asked: string | undefined,
  turn: Turn | undefined,
): Shown[] {
  const shown = messages.flatMap((message, index): Shown[] => {
    const own = turn?.runId === message.run_id ? turn : undefined;
    const run = message.run_id ? runs?.get(message.run_id) : undefined;
    const found = stored(message, own, run);
    const answered = messages[index + 1]?.role === 'assistant';
    const ended = run && (run.status === 'failed' || run.status === 'cancelled');
    if (message.role !== 'user' || answered || own || !ended) return [found];
    return [
      found,
      {
        ...found,
        ...QUESTION,
        key: `assistant-${message.run_id}`,
        role: 'assistant',
        content: '',
        notes: reasons(run),
      },
    ];
  });
  const isStored = (role: Shown['role']) =>
    turn?.runId !== undefined && messages.some((message) => message.role === role && message.run_id === turn.runId);
  if (asked !== undefined && !isStored('user'))
    shown.push({ ...QUESTION, key: 'asked', role: 'user', content: asked, runId: turn?.runId });
  if (turn && !isStored('assistant')) shown.push(live(turn));
  return shown;
}

function stored(message: Schemas['Message'], turn: Turn | undefined, run: Schemas['Run'] | undefined): Shown {
  return {
    key: `${message.role}-${message.run_id ?? message.id}`,
    role: message.role,
    content: message.content,
    runId: message.run_id ?? undefined,
    citations: message.citations ?? [],
    removed: message.removed_citations ?? 0,
    mode: message.mode ?? undefined,
    notes: message.role === 'assistant' ? (turn?.issues ?? run?.issues ?? []) : [],
    turn: message.role === 'assistant' ? turn : undefined,
  };
}

const reasons = (run: Schemas['Run']) => (run.error_message ? [...run.issues, run.error_message] : run.issues);

const live = (turn: Turn): Shown => ({
  key: `assistant-${turn.runId}`,
  role: 'assistant',
  content: turn.text,
  runId: turn.runId,
  citations: turn.citations,
  removed: turn.removed,
  mode: turn.mode,
  notes: turn.issues,
  turn,
});

/** The run of the newest question, when nothing has answered it yet: after a reload it is followed again. */
export function unanswered(messages: readonly Schemas['Message'][]): string | undefined {
  const last = messages.at(-1);
  return last?.role === 'user' ? (last.run_id ?? undefined) : undefined;
}
