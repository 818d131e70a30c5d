import { expect, test } from 'vitest';
import type { Schemas } from '../../src/api/client';
import { exchange, unanswered } from '../../src/chat/exchange';
import { EMPTY, type Turn } from '../../src/chat/turn';

const message = (role: 'user' | 'assistant', run: string, content: string): Schemas['Message'] => ({
  id: `${role}${run}`,
  session_id: 's',
  run_id: run,
  role,
  content,
  created_at: '',
});
const run = (id: string, status: Schemas['RunStatus'], reason: string | null) =>
  ({ id, status, issues: ['Memory did not answer.'], error_message: reason }) as unknown as Schemas['Run'];
const turn: Turn = { ...EMPTY, runId: 'r2', text: 'Because', issues: ['slow'] };

test('the stored answer takes the place of the streamed one, and its notes stay', () => {
  const before = exchange([message('user', 'r2', 'Why?')], undefined, 'Why?', turn);
  const stored = [message('user', 'r2', 'Why?'), message('assistant', 'r2', 'Because.')];
  const after = exchange(stored, undefined, 'Why?', turn);
  expect(before.map((each) => each.content)).toEqual(['Why?', 'Because']);
  expect(after.map((each) => each.content)).toEqual(['Why?', 'Because.']);
  expect(after[1]).toMatchObject({ key: before[1]!.key, notes: ['slow'] });
});

test('after a reload the run tells what was missing, and why there is no answer', () => {
  const messages = [message('user', 'r1', 'One?'), message('user', 'r2', 'Two?'), message('assistant', 'r2', 'Two.')];
  const runs = new Map([
    ['r1', run('r1', 'failed', 'The model refused.')],
    ['r2', run('r2', 'completed', null)],
  ]);
  const shown = exchange(messages, runs, undefined, undefined);
  expect(shown.map(({ role, notes }) => [role, notes])).toEqual([
    ['user', []],
    ['assistant', ['Memory did not answer.', 'The model refused.']],
    ['user', []],
    ['assistant', ['Memory did not answer.']],
  ]);
});

test('only a question at the end is followed again', () => {
  expect(unanswered([message('user', 'r1', 'Why?')])).toBe('r1');
  expect(unanswered([message('user', 'r1', 'Why?'), message('assistant', 'r1', 'So.')])).toBeUndefined();
});
