import { afterAll, expect, test, vi } from 'vitest';
import { Problem } from '../../src/api/client';
import { listed } from '../../src/chat/exchange';
import { EMPTY, reduce } from '../../src/chat/turn';
import { chooseLanguage, explained, worded } from '../../src/i18n';
import { translated } from '../../src/i18n/sentences';
import { sentences } from '../../src/i18n/sentences-de';
import { python } from './python';

vi.stubGlobal('document', { documentElement: { lang: 'en' } });
afterAll(() => chooseLanguage('en'));
const ANSWERS = 'services/orchestrator/src/orchestrator';
const SOURCES = [
  ANSWERS,
  'services/ingestion/src/ingestion',
  'services/memory/src/memory',
  'services/retrieval/src/retrieval',
  'services/gateway/src/gateway',
  'services/knowledge-graph/src/knowledge_graph',
  'libs/inference/src/inference',
  'libs/service-kit/src/service_kit',
];

/** Returns how many pieces of the source, cut between words, the text consists of. */
function pieces(text: string, source: string): number {
  const words = text.split(' ').filter(Boolean);
  let count = 0;
  while (words.length > 0) {
    let end = words.length;
    while (end > 1 && !source.includes(words.slice(0, end).join(' '))) end--;
    words.splice(0, end);
    count++;
  }
  return count;
}

test('each sentence that is told in German is one of the API', () => {
  const said = SOURCES.map(python).join('\n');
  const strange = (part: string) => pieces(part.replace(/[:(]? *$/, ''), said) > 2;
  expect(sentences.filter(([english]) => english.split('{}').some(strange))).toEqual([]);
});

test('what an answer went without is told in German', () => {
  const said = python(ANSWERS);
  const issues = [
    ...said.matchAll(/(?:issues?(?: = \[?|\.append\(|=)|_failed\()f?"([^"]*[a-z ]{8}[^"]*)"/g),
    ...said.matchAll(
      /^(?:\w+_ISSUE|OWN_ALONE|WENT_WITHOUT|QUOTED_INSTEAD|PARTLY_SEEN|IN_SECTIONS) = \(?\n? *"([^"]+)"/gm,
    ),
  ]
    .map(([, issue]) => issue!.replace(/\{[^}]*\}/g, 'x'))
    .filter((issue) => issue !== 'the chat model x'); // its reasons have both
  expect(issues.length).toBeGreaterThan(20);
  expect(issues.filter((issue) => translated(issue, sentences) === issue)).toEqual([]);
});

test('a sentence keeps what differs in it, and tells its reason in German, too', async () => {
  const message = 'the chat model failed, so the answer quotes the documents instead: memory cannot be reached';
  const issue = { id: '1', name: 'issue', data: { message } } as const;
  expect(worded(message)).toBe(message);
  await chooseLanguage('de');
  const own =
    'Das Sprachmodell hat nicht geantwortet, deshalb zitiert die Antwort die Dokumente: memory ist nicht erreichbar';
  expect(reduce(EMPTY, issue).issues).toEqual([own]);
  const stored = { id: 'm', role: 'assistant', content: '', run_id: 'r' } as Parameters<typeof listed>[0][number];
  const run = { issues: [message] } as Parameters<typeof listed>[1] extends ReadonlyMap<string, infer R> | undefined
    ? R
    : never;
  expect(listed([stored], new Map([['r', run]]))[0]!.notes).toEqual([own]);
  expect(worded('the source does not say “$& {}”')).toBe('die Quelle sagt nicht „$& {}“');
  expect(worded('gpt failed, so llama is asked: The model answered without a word.')).toBe(
    'gpt hat nicht geantwortet, deshalb wird llama gefragt: das Modell hat nichts geschrieben',
  );
  const refused = { type: 'forbidden', title: 'No', detail: 'this needs the role owner; the key has viewer' };
  expect(new Problem(403, refused).message).toBe(
    'Deine Rolle erlaubt das nicht: nötig ist die Rolle owner; der Schlüssel hat viewer',
  );
  expect(explained('corrupt-file', 'The PDF is damaged or incomplete and cannot be opened.')).toBe(
    'Das PDF ist beschädigt oder unvollständig und lässt sich nicht öffnen.',
  );
  const budget = 'The model is not called: all of the 900 tokens of the user a day are used, until 2026-01-01T00:00Z';
  expect(worded(budget)).toBe(
    'das Modell wird nicht gefragt: verbraucht sind alle 900 Token am Tag für die Person, bis 2026-01-01T00:00Z',
  );
  expect(worded('What nobody has said before')).toBe('What nobody has said before');
});
