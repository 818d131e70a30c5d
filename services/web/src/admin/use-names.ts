import { useQuery } from '@tanstack/react-query';
import { api, body, everyPage, type Schemas } from '../api/client';

/** The workspace's members; only owners may list them. */
export const useMembers = ({ workspace, role }: Schemas['Caller']) =>
  useQuery({
    queryKey: ['members', workspace.id],
    enabled: role === 'owner',
    queryFn: () =>
      everyPage((cursor) => {
        const params = { path: { workspace_id: workspace.id }, query: { limit: 200, ...cursor } };
        return body(api.GET('/v1/workspaces/{workspace_id}/members', { params }));
      }),
  });

/** Returns a user's name by id; the beginning of the id if the user has left. */
export function useNames(caller: Schemas['Caller']): (userId: string | null) => string {
  const { data } = useMembers(caller);
  const names = new Map(data?.map((member) => [member.user_id, member.name]));
  names.set(caller.user.id, caller.user.name);
  return (userId) => (userId === null ? '–' : (names.get(userId) ?? userId.slice(0, 8)));
}
