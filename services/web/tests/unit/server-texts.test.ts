import { afterAll, expect, test, vi } from 'vitest';
import { Problem } from '../../src/api/client';
import { EMPTY, reduce } from '../../src/chat/turn';
import { typeInWords } from '../../src/graph/tools';
import { chooseLanguage, explained, told } from '../../src/i18n';
import { server } from '../../src/i18n/server-de';
import { inWords } from '../../src/search/facets';
import { legName } from '../../src/search/legs';
import { python, read } from './python';

vi.stubGlobal('document', { documentElement: { lang: 'en' } });
afterAll(() => chooseLanguage('en'));
const ANSWERS = 'services/orchestrator/src/orchestrator/graphs';
const INGESTION = 'services/ingestion/src/ingestion';

test('each problem and reason that is told in German is one of the API', () => {
  const said = read('docs/reference/problems.md') + python(INGESTION);
  const unknown = Object.keys(server).filter(
    (name) => !name.includes('.') && !said.includes(`\`${name}\``) && !said.includes(`"${name}"`),
  );
  expect(unknown).toEqual([]);
});

test('why a file or a source is refused is told in German', () => {
  const refusals = [
    ...python(INGESTION).matchAll(/\b(?:Archive)?Refused\(\s*"([a-z0-9-]+)"|SourceUnavailable\(\s*"([a-z0-9-]+)"/g),
  ];
  const names = new Set(refusals.map(([, one, other]) => one ?? other!));
  expect(names.size).toBeGreaterThan(20);
  expect([...names].filter((name) => !server[name])).toEqual([]);
});

test('each step of an answer is told in German', () => {
  const graphs = read(`${ANSWERS}/conversation/graph.py`) + read(`${ANSWERS}/artifact_ops/graph.py`);
  const stages = [...graphs.matchAll(/add_node\("(\w+)", stage\(|^ {4}"(\w+)": \(/gm)].map(
    ([, one, other]) => one ?? other,
  );
  expect(stages.length).toBeGreaterThan(15);
  expect(stages.filter((name) => !server[`stage.${name}`])).toEqual([]);
});

test('what a graph and a search call things is told in words, in German, too', async () => {
  expect(typeInWords('PART_OF')).toBe('part of');
  expect(legName('dense')).toBe('dense');
  expect(inWords('media_type', 'application/pdf')).toBe('PDF');
  expect(inWords('media_type', 'text/x-python')).toBe('python');
  expect(inWords('language', 'de')).toBe('German');
  expect(inWords('language', 'no language')).toBe('no language');
  await chooseLanguage('de');
  expect(typeInWords('PART_OF')).toBe('ist Teil von');
  expect(typeInWords('MADE_BY')).toBe('made by');
  expect(legName('dense')).toBe('Bedeutung');
  expect(inWords('language', 'de')).toBe('Deutsch');
  expect(inWords('source_type', 'upload')).toBe('hochgeladen');
  await chooseLanguage('en');
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
