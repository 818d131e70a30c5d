import { useInfiniteQuery } from '@tanstack/react-query';
import { api, body } from '../api/client';

/** The person's conversations, the most recently used first, page by page. */
export const useSessions = () =>
  useInfiniteQuery({
    queryKey: ['sessions'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      body(api.GET('/v1/sessions', { params: { query: { limit: 50, ...(pageParam ? { cursor: pageParam } : {}) } } })),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
