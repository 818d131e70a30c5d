import { useInfiniteQuery } from '@tanstack/react-query';
import { api, body } from '../api/client';

const next = (page: { next_cursor?: string | null }) => page.next_cursor ?? undefined;
const from = (cursor: string | undefined) => (cursor ? { cursor } : {});
const initialPageParam = undefined as string | undefined;

/** The key of a conversation that is deleted. */
export const keyOf = (sessionId: string): string => `session:${sessionId}`;

/** The user's conversations page by page: pinned ones first, then the most recently used. */
export const useSessions = (archived = false) =>
  useInfiniteQuery({
    queryKey: ['sessions', archived],
    initialPageParam,
    queryFn: ({ pageParam }) =>
      body(api.GET('/v1/sessions', { params: { query: { archived, limit: 50, ...from(pageParam) } } })),
    getNextPageParam: next,
  });

/** Titles and messages with all of the words, page by page; the last word may be incomplete. */
export const useFoundSessions = (words: string) =>
  useInfiniteQuery({
    queryKey: ['sessions', 'found', words],
    initialPageParam,
    queryFn: ({ pageParam, signal }) =>
      body(api.GET('/v1/sessions/search', { params: { query: { q: words, ...from(pageParam) } }, signal })),
    getNextPageParam: next,
  });
