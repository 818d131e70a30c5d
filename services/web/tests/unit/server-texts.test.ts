import { readFileSync } from 'node:fs';
import { afterAll, expect, test, vi } from 'vitest';
import { Problem } from '../../src/api/client';
import { EMPTY, reduce } from '../../src/chat/turn';
import { chooseLanguage, explained, told } from '../../src/i18n';
import { server } from '../../src/i18n/server-de';

vi.stubGlobal('document', { documentElement: { lang: 'en' } });
afterAll(() => chooseLanguage('en'));
const REPOSITORY = new URL('../../../../', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, REPOSITORY), 'utf8');
const ANSWERS = 'services/orchestrator/src/orchestrator/graphs';
const REASONS = ['conversion/errors', 'worker/failures', 'queue/recovery', 'documents/incoming_files'].map(
  (name) => `services/ingestion/src/ingestion/${name}.py`,
);

test('each problem and reason that is told in German is one of the API', () => {
  const said = ['docs/reference/problems.md', ...REASONS].map(read).join('\n');
  const unknown = Object.keys(server).filter(
    (name) => !name.includes('.') && !said.includes(`\`${name}\``) && !said.includes(`"${name}"`),
  );
  expect(unknown).toEqual([]);
});

test('each step of an answer is told in German', () => {
  const graphs = read(`${ANSWERS}/conversation/graph.py`) + read(`${ANSWERS}/artifact_ops/graph.py`);
  const stages = [...graphs.matchAll(/add_node\("(\w+)", stage\(|^ {4}"(\w+)": \(/gm)].map(
    ([, one, other]) => one ?? other,
  );
  expect(stages.length).toBeGreaterThan(15);
  expect(stages.filter((name) => !server[`stage.${name}`])).toEqual([]);
});

test('what the page does not know stays in the words of the API', async () => {
  const refusal = { type: 'forbidden', title: 'The role of this key does not allow this', detail: 'ask an owner' };
  const started = {
    id: '1',
    name: 'stage_started',
    data: { stage: 'retrieve', label: 'Searching the documents' },
  } as const;
  expect(told('forbidden', refusal.title)).toBe(refusal.title);
  await chooseLanguage('de-AT');
  expect(new Problem(403, refusal).message).toBe('Deine Rolle erlaubt das nicht: ask an owner');
  expect(new Problem(403, { ...refusal, type: 'constructor' }).message).toBe(`${refusal.title}: ask an owner`);
  expect(reduce(EMPTY, started).steps[0]!.label).toBe('Die Dokumente durchsuchen');
  expect(explained('disk-full', 'No space')).toBe('Der Server hat keinen Speicherplatz mehr (No space)');
  expect(explained(null, 'No space')).toBe('No space');
});
