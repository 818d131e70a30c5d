import { useQuery } from '@tanstack/react-query';
import { api, body, everyPage } from '../api/client';

/** The questions and answers of a session, oldest first. */
export const useMessages = (sessionId: string) =>
  useQuery({
    queryKey: ['messages', sessionId],
    queryFn: () =>
      everyPage((cursor) => {
        const params = { path: { session_id: sessionId }, query: { limit: 200, ...cursor } };
        return body(api.GET('/v1/sessions/{session_id}/messages', { params }));
      }),
  });

/** The session itself, with the version of its artifact. */
export const useSession = (sessionId: string) =>
  useQuery({
    queryKey: ['session', sessionId],
    queryFn: () => body(api.GET('/v1/sessions/{session_id}', { params: { path: { session_id: sessionId } } })),
  });

/** The session's newest runs by id: what an answer lacked, or why there is none. */
export const useRuns = (sessionId: string) =>
  useQuery({
    queryKey: ['runs', sessionId],
    queryFn: async () => {
      const query = { session_id: sessionId, limit: 200 };
      const { items } = await body(api.GET('/v1/runs', { params: { query } }));
      return new Map(items.map((run) => [run.id, run]));
    },
  });
