import { expect, test } from 'vitest';
import type { Schemas } from '../../src/api/client';
import { exchange, firstQuoted, listed, underWay } from '../../src/chat/exchange';
import { EMPTY, type Turn } from '../../src/chat/turn';

type Status = Schemas['MessageStatus'];
const message = (
  role: 'user' | 'assistant',
  run: string,
  content: string,
  status: Status = 'completed',
): Schemas['Message'] => ({
  id: `${role}-${run}`,
  session_id: 's',
  run_id: run,
  role,
  content,
  status,
  created_at: '',
});
const run = (id: string, status: Schemas['RunStatus'], reason: string | null) =>
  ({ id, status, issues: ['Memory did not answer.'], error_message: reason }) as unknown as Schemas['Run'];
const turn: Turn = { ...EMPTY, runId: 'r2', text: 'Because', issues: ['slow'] };
const texts = (shown: ReturnType<typeof exchange>) => shown.map((each) => each.content);
const STORED = [message('user', 'r1', 'Why?'), message('assistant', 'r1', 'So.')];

test('the stored answer takes the place of the streamed one, and its notes stay', () => {
  const asked = { content: 'Why?' };
  const before = exchange(listed([message('user', 'r2', 'Why?')], undefined), asked, turn);
  const half = [message('user', 'r2', 'Why?'), message('assistant', 'r2', '', 'running')];
  const stored = [message('user', 'r2', 'Why?'), message('assistant', 'r2', 'Because.')];
  const after = exchange(listed(stored, undefined), undefined, turn);
  expect(texts(before)).toEqual(['Why?', 'Because']);
  expect(texts(exchange(listed(half, undefined), asked, turn))).toEqual(['Why?', 'Because']);
  expect(texts(exchange(listed(half, undefined), undefined, turn))).toEqual(['Why?', 'Because']);
  expect(texts(after)).toEqual(['Why?', 'Because.']);
  expect(after[1]).toMatchObject({ key: before[1]!.key, notes: ['slow'] });
});

test('a question that is stored before its request says so is shown once', () => {
  const early = [...STORED, message('user', 'r2', 'And?'), message('assistant', 'r2', '', 'pending')];
  expect(texts(exchange(listed(early, undefined), { content: 'And?' }, EMPTY))).toEqual(['Why?', 'So.', 'And?', '']);
  expect(texts(exchange(listed(STORED, undefined), { content: 'Why?' }, EMPTY))).toEqual(['Why?', 'So.', 'Why?', '']);
});

test('an edited question replaces what followed, and so does a further answer', () => {
  const first = { content: 'How?', parentId: null };
  expect(texts(exchange(listed(STORED, undefined), first, turn))).toEqual(['How?', 'Because']);
  expect(texts(exchange(listed(STORED, undefined), { parentId: 'user-r1' }, turn))).toEqual(['Why?', 'Because']);
  const second = { content: 'And?', parentId: 'assistant-r1' };
  const longer = [...STORED, message('user', 'r3', 'Then?'), message('assistant', 'r3', 'Then.')];
  expect(texts(exchange(listed(longer, undefined), second, turn))).toEqual(['Why?', 'So.', 'And?', 'Because']);
});

test('after a reload the run tells what was missing, and why there is no answer', () => {
  const messages = [
    message('user', 'r1', 'One?'),
    message('assistant', 'r1', '', 'failed'),
    message('user', 'r2', 'Two?'),
    message('assistant', 'r2', 'Two.'),
  ];
  const runs = new Map([
    ['r1', run('r1', 'failed', 'The model refused.')],
    ['r2', run('r2', 'completed', null)],
  ]);
  const shown = exchange(listed(messages, runs), undefined, undefined);
  expect(shown.map(({ role, notes }) => [role, notes])).toEqual([
    ['user', []],
    ['assistant', ['Memory did not answer.', 'The model refused.']],
    ['user', []],
    ['assistant', ['Memory did not answer.']],
  ]);
});

test('only an answer at the end that is still being written is followed again', () => {
  const written = (status: Status) => underWay([message('user', 'r1', 'Why?'), message('assistant', 'r1', '', status)]);
  expect([written('pending'), written('running')]).toEqual(['r1', 'r1']);
  expect([written('completed'), written('cancelled'), underWay([])]).toEqual([undefined, undefined, undefined]);
});

test('after a reload an answer still has what was found for it, and a question the documents named in it', () => {
  const source = { chunk_id: 'c', document_id: 'd', document_name: 'a.md', score: 0.2 };
  const question = { ...message('user', 'r1', 'Why?'), document_ids: ['d'] };
  const answer = { ...message('assistant', 'r1', 'So.'), good_match: false, sources: [source] };
  const [asked, given] = exchange(listed([question, answer], undefined), undefined, undefined);
  expect(asked).toMatchObject({ documents: ['d'], sources: [], goodMatch: undefined });
  expect(given).toMatchObject({ documents: [], sources: [source], goodMatch: false });
});

test('the first answer that was quoted for want of a model is known; greetings and failures are none', () => {
  const quoted = (run: string, content: string) => ({
    ...message('assistant', run, content),
    mode: 'extractive' as const,
  });
  const stored = [message('assistant', 'r1', 'Hello.'), quoted('r2', ''), quoted('r3', 'So.'), quoted('r4', 'Thus.')];
  expect(firstQuoted(listed(stored, undefined))).toBe('assistant-r3');
  expect(firstQuoted(listed(stored.slice(0, 2), undefined))).toBeUndefined();
});
