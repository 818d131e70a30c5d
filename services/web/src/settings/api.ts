// Settings over the API: their owner, and the effects of a change.
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { api, body, type Schemas } from '../api/client';

export type Scope = Schemas['SettingScope'];
const at = (setting_key: string, scope: Scope) => ({ params: { path: { setting_key }, query: { scope } } });

export const useSchema = () =>
  useQuery({
    queryKey: ['settings-schema'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await body(api.GET('/v1/settings/schema'))).items,
  });

export const useSettings = (scope: Scope) =>
  useQuery({
    queryKey: ['settings', scope],
    queryFn: async () => (await body(api.GET('/v1/settings', { params: { query: { scope } } }))).items,
  });

export const setSetting = (key: string, scope: Scope, value: unknown) =>
  api.PUT('/v1/settings/{setting_key}', { ...at(key, scope), body: { value } });

export const resetSetting = (key: string, scope: Scope) => api.DELETE('/v1/settings/{setting_key}', at(key, scope));

/** Reloads the settings; the availability of a model, or a budget, may have changed. */
export const changed = (client: QueryClient) =>
  Promise.all([['settings'], ['has-model'], ['usage']].map((queryKey) => client.invalidateQueries({ queryKey })));
