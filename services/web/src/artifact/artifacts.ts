// The artifact of a session over the API.
import { useQuery } from '@tanstack/react-query';
import { api, body, everyPage, Problem, type Schemas } from '../api/client';

export type Artifact = Schemas['ArtifactView'];
const PLACE = '/v1/sessions/{session_id}/artifact';
const of = (session_id: string) => ({ path: { session_id } });
const at = (session_id: string, version?: number) => ({
  ...of(session_id),
  header: version === undefined ? {} : { 'if-match': `"${version}"` },
});

/** Returns the current artifact, or null. */
export async function readArtifact(sessionId: string): Promise<Artifact | null> {
  try {
    return (await body(api.GET(PLACE, { params: of(sessionId) }))) as Artifact;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

export const useArtifact = (sessionId: string) =>
  useQuery({ queryKey: ['artifact', sessionId], queryFn: () => readArtifact(sessionId) });

export const useVersion = (sessionId: string, index: number | undefined) =>
  useQuery({
    queryKey: ['artifact-version', sessionId, index],
    enabled: index !== undefined,
    staleTime: Infinity,
    queryFn: async () => {
      const params = { path: { session_id: sessionId, index: index! } };
      return (await body(api.GET(`${PLACE}/versions/{index}`, { params }))) as Artifact;
    },
  });

export const useVersions = (sessionId: string, version: number) =>
  useQuery({
    queryKey: ['artifact-versions', sessionId, version],
    queryFn: () =>
      everyPage((cursor) => {
        const params = { path: { session_id: sessionId }, query: { limit: 200, ...cursor } };
        return body(api.GET(`${PLACE}/versions`, { params }));
      }),
  });

type Put = Pick<Artifact, 'kind' | 'language' | 'title' | 'text'>;

/** Writes the whole text; with a version, only if it is still current (otherwise a Problem with status 412). */
export const putArtifact = async (sessionId: string, put: Put, version?: number) =>
  (await body(api.PUT(PLACE, { params: at(sessionId, version), body: put }))) as Artifact;

export const undo = async (sessionId: string, version: number) =>
  (await body(api.POST(`${PLACE}/undo`, { params: at(sessionId, version) }))) as Artifact;

export const redo = async (sessionId: string, version: number) =>
  (await body(api.POST(`${PLACE}/redo`, { params: at(sessionId, version) }))) as Artifact;

export const restore = async (sessionId: string, version: number, index: number) =>
  (await body(api.POST(`${PLACE}/restore`, { params: at(sessionId, version), body: { index } }))) as Artifact;

/** Makes a version a document of the workspace, which replaces that of an earlier version. */
export const indexArtifact = async (sessionId: string, index: number) =>
  body(api.POST(`${PLACE}/index`, { params: { ...of(sessionId), query: { index } } }));
