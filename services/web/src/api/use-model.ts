import { useQuery } from '@tanstack/react-query';
import { api, body, type Schemas } from './client';

const PLAIN = 'attractor-plain'; // listed if the operator has a chat model

/** Determines from the listed models and the settings whether a chat model is available. */
export const writes = (
  models: readonly Schemas['ModelCard'][],
  settings: readonly Schemas['SettingState'][],
): boolean =>
  models.some(({ id }) => id === PLAIN) ||
  settings.some(({ key, value }) => key.startsWith('roles.') && Array.isArray(value) && value.length > 0);

/** Returns whether there is a chat model, the operator's or a chosen one; undefined until it is known. */
export function useModel(): boolean | undefined {
  const { data } = useQuery({
    queryKey: ['has-model'],
    staleTime: 60_000,
    queryFn: async () => {
      const [models, settings] = await Promise.all([
        body(api.GET('/v1/models')),
        body(api.GET('/v1/settings', { params: { query: { scope: 'workspace', category: 'roles' } } })),
      ]);
      return writes(models.data, settings.items);
    },
  });
  return data;
}
