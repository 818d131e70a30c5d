// The questions and answers to show: the stored ones and the running turn. Pure.
import type { Schemas } from '../api/client';
import { explained, worded } from '../i18n';
import type { Turn } from './turn';

type Message = Schemas['Message'];
type Runs = ReadonlyMap<string, Schemas['Run']>;

/** `key` stays the same when the stored answer replaces the streamed one, so nothing moves on the screen. */
export interface Shown {
  key: string;
  role: Schemas['MessageRole'];
  content: string;
  runId: string | undefined;
  citations: Schemas['Citation'][];
  removed: number;
  mode: Schemas['AnswerMode'] | undefined;
  notes: string[];
  sentences: Schemas['SentenceCheck'][];
  /** The images of a question. */
  images: string[];
  /** The documents to which a question limits its answer. */
  documents: string[];
  /** The passages found for a stored answer. */
  sources: Schemas['ConsideredSource'][];
  /** False if nothing found matched the question well. */
  goodMatch: boolean | undefined;
  /** The stored message, which can be edited, answered again or switched to a sibling. */
  message: Message | undefined;
  /** The turn of an answer that was followed on this page. */
  turn: Turn | undefined;
}

/**
 * The question just asked. `parentId` is the message that it follows: null for the first question, undefined for the
 * newest message. Without `content`, the question at `parentId` is answered again.
 */
export interface Asked {
  content?: string;
  images?: string[];
  documents?: string[];
  parentId?: string | null | undefined;
}

// The same lists each time, so that what has not changed is not rendered again
const NO_CITATIONS: Schemas['Citation'][] = [];
const NO_NOTES: string[] = [];
const NO_SENTENCES: Schemas['SentenceCheck'][] = [];
const NO_IMAGES: string[] = [];
const NO_DOCUMENTS: string[] = [];
const NO_SOURCES: Schemas['ConsideredSource'][] = [];
const NOTHING = {
  citations: NO_CITATIONS,
  removed: 0,
  mode: undefined,
  notes: NO_NOTES,
  sentences: NO_SENTENCES,
  images: NO_IMAGES,
  documents: NO_DOCUMENTS,
  sources: NO_SOURCES,
  goodMatch: undefined,
  turn: undefined,
};

/** Joins listed messages, the question just asked and the running turn, each once. What has not changed is the same. */
export function exchange(listed: readonly Shown[], asked: Asked | undefined, turn: Turn | undefined): Shown[] {
  if (asked === undefined) return listed.map((each) => followed(each, turn));
  const shown = before(listed, asked, turn).map((each) => followed(each, turn));
  if (asked.content !== undefined)
    shown.push({
      ...NOTHING,
      key: 'asked',
      role: 'user',
      content: asked.content,
      images: asked.images ?? NO_IMAGES,
      documents: asked.documents ?? NO_DOCUMENTS,
      runId: turn?.runId,
      message: undefined,
    });
  return turn ? [...shown, live(turn, undefined)] : shown;
}

/** Returns the messages before the question; those of its own run may be stored already. */
function before(listed: readonly Shown[], asked: Asked, turn: Turn | undefined): readonly Shown[] {
  const { parentId } = asked;
  if (parentId !== undefined) return listed.slice(0, listed.findIndex((each) => each.message?.id === parentId) + 1);
  const own = turn?.runId ?? startedBy(asked, listed);
  return own ? listed.filter((each) => each.runId !== own) : listed;
}

/** Returns the run of a question that is stored before its own request says so. */
function startedBy({ content }: Asked, listed: readonly Shown[]): string | undefined {
  const run = underWay(listed.flatMap(({ message }) => message ?? []));
  return listed.some((each) => each.role === 'user' && each.runId === run && each.content === content)
    ? run
    : undefined;
}

/** Returns the stored messages as they are shown without a turn. */
export const listed = (messages: readonly Message[], runs: Runs | undefined): Shown[] =>
  messages.map((message) => {
    const run = message.role === 'assistant' && message.run_id ? runs?.get(message.run_id) : undefined;
    return {
      key: `${message.role}-${message.run_id ?? message.id}`,
      role: message.role,
      content: message.content,
      runId: message.run_id ?? undefined,
      citations: message.citations ?? NO_CITATIONS,
      removed: message.removed_citations ?? 0,
      mode: message.mode ?? undefined,
      notes: run ? reasons(run) : NO_NOTES,
      sentences: message.sentences ?? NO_SENTENCES,
      images: message.attachment_ids ?? NO_IMAGES,
      documents: message.document_ids ?? NO_DOCUMENTS,
      sources: message.sources ?? NO_SOURCES,
      goodMatch: message.good_match ?? undefined,
      message,
      turn: undefined,
    };
  });

/** Returns a listed message with the turn that was followed for it. */
function followed(each: Shown, turn: Turn | undefined): Shown {
  if (!turn || each.role !== 'assistant' || turn.runId !== each.runId) return each;
  if (each.message && isUnderWay(each.message)) return live(turn, each.message);
  return { ...each, notes: turn.issues, goodMatch: each.goodMatch ?? turn.goodMatch, turn };
}

const reasons = ({ issues, error_type: type, error_message: message }: Schemas['Run']) => [
  ...issues.map(worded),
  ...(message ? [explained(type, message)] : []),
];

const live = (turn: Turn, message: Message | undefined): Shown => ({
  key: `assistant-${turn.runId}`,
  role: 'assistant',
  content: turn.text,
  runId: turn.runId,
  citations: turn.citations,
  removed: turn.removed,
  mode: turn.mode,
  notes: turn.issues,
  sentences: NO_SENTENCES,
  images: NO_IMAGES,
  documents: NO_DOCUMENTS,
  sources: NO_SOURCES,
  goodMatch: turn.goodMatch,
  message,
  turn,
});

/** Returns the key of the first answer that was quoted from the documents, for want of a model. */
export const firstQuoted = (shown: readonly Shown[]): string | undefined =>
  shown.find(({ mode, content }) => mode === 'extractive' && content !== '')?.key;

const isUnderWay = ({ status }: Message) => status === 'pending' || status === 'running';

/** Returns the run that is writing the newest message, which is followed again after a reload. */
export function underWay(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1);
  return last?.role === 'assistant' && isUnderWay(last) ? (last.run_id ?? undefined) : undefined;
}
