import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, body, type Schemas } from '../api/client';
import { type Key, t } from '../i18n';
import { Choice } from '../shell/Choice';
import style from '../shell/page.module.css';

type Way = NonNullable<Schemas['MemorySettings']['writing']>;
const WAYS = { on: 'writingOn', review: 'writingReview', off: 'writingOff' } as const satisfies Record<Way, Key>;

const SHORT = { on: 'keptOn', review: 'keptReview', off: 'keptOff' } as const satisfies Record<Way, Key>;

/** What the workspace has decided about memories; it fails if nothing can be remembered or forgotten now. */
export const useMemorySettings = () =>
  useQuery({ queryKey: ['memory-settings'], queryFn: () => body(api.GET('/v1/memories/settings')) });

/** The owners' choice whether facts are extracted from conversations in the workspace. */
export function Writing({ isOwner }: { isOwner: boolean }) {
  const client = useQueryClient();
  const { data } = useMemorySettings();
  const change = useMutation({
    mutationFn: (writing: Way) => api.PUT('/v1/memories/settings', { body: { writing } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['memory-settings'] }),
  });
  if (!data) return null;
  const writing = data.writing ?? 'on';
  if (!isOwner) return <p className={style.quiet}>{t(WAYS[writing])}</p>;
  const options = (Object.keys(WAYS) as Way[]).map((value) => ({ value, name: t(SHORT[value]) }));
  return (
    <div className={style.form}>
      <Choice label={t('writing')} value={writing} options={options} onChange={change.mutate} />
      <p role="alert" className={style.error}>
        {change.error?.message}
      </p>
    </div>
  );
}
