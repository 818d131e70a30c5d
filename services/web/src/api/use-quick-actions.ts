import { useQuery } from '@tanstack/react-query';
import { api, body, everyPage } from './client';

/** The quick actions of the user and of the workspace, oldest first. */
export const useQuickActions = () =>
  useQuery({
    queryKey: ['quick-actions'],
    queryFn: () =>
      everyPage((cursor) => body(api.GET('/v1/quick-actions', { params: { query: { limit: 200, ...cursor } } }))),
  });
