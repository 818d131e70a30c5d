import { expect, test, vi } from 'vitest';
import { type Seen, troubles } from '../../src/admin/troubles';

vi.stubGlobal('document', { documentElement: { lang: 'en' } });
const ready: Seen['services'][number] = { name: 'memory', status: 'ready', detail: null };
const letter = { id: 'documents-1-0', stream: 'documents', type: null, subject: null, workspace_id: null } as const;
const given = { ...letter, service: 'retrieval', reason: 'the disk is full', failed_at: '2026-01-01T00:00:00Z' };
const backlog = { stream: 'turns', service: 'memory', waiting: 3, held: 1 };
const lane = (documents: number) => ({ documents, oldest_seconds: 1 });
const counts = (changes: object) =>
  ({
    by_status: {},
    workers: 2,
    lanes: { interactive: lane(1), bulk: lane(2) },
    ...changes,
  }) as unknown as Seen['documents'];
const whats = (seen: Partial<Seen>) => troubles({ services: [ready], ...seen }).map(({ what }) => what);

test('nothing is wrong while services are ready, whatever waits for a moment', () => {
  const backlogs = [{ ...backlog, oldest_seconds: 20 }];
  expect(whats({ backlogs, letters: [], documents: counts({}) })).toEqual([]);
});

test('a service that is away comes first, with what is missing until it is back', () => {
  const services = [ready, { ...ready, name: 'retrieval', status: 'unreachable' } as const];
  const [first, second] = troubles({ services, letters: [given, given] });
  expect(first!.what).toBe('The service retrieval is not ready. Search is unavailable until it is back.');
  expect(second!.what).toContain('2 (retrieval)');
});

test('a queue that nobody works off is told', () => {
  expect(whats({ documents: counts({ workers: 0 }) })).toEqual(['No worker is running; 3 documents are waiting.']);
  expect(whats({ backlogs: [{ ...backlog, oldest_seconds: 601 }] })[0]).toContain('10 minutes');
  expect(whats({ documents: counts({ by_status: { failed: 4 } }) })).toEqual(['Failed documents: 4.']);
});
