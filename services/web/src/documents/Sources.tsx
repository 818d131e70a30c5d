import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { api, body, everyPage } from '../api/client';
import { t } from '../i18n';
import page from '../shell/page.module.css';
import { useHidden } from '../shell/use-deletions';
import { DeletedHere } from './DeletedHere';
import { NewSource } from './NewSource';
import { SourceRow } from './SourceRow';
import { isUnderWay } from './sources';

const WATCHED_MILLISECONDS = 2000;

/** Folders, repositories, buckets and sites whose files are kept in step; owners create and change them. */
export function Sources({ isOwner }: { isOwner: boolean }) {
  const client = useQueryClient();
  const hidden = useHidden();
  const [making, setMaking] = useState(false);
  const [previewed, setPreviewed] = useState<string>(); // the source whose first dry run is to be shown
  const { data, error } = useQuery({
    queryKey: ['sources'],
    queryFn: () =>
      everyPage((cursor) => body(api.GET('/v1/sources', { params: { query: { limit: 200, ...cursor } } }))),
    refetchInterval: ({ state }) =>
      (state.data?.some(({ last_sync: sync }) => sync && isUnderWay(sync)) ?? false) && WATCHED_MILLISECONDS,
  });
  const done = async (id: string, isPreview: boolean) => {
    setMaking(false);
    if (isPreview) setPreviewed(id);
    await client.invalidateQueries({ queryKey: ['sources'] });
  };
  return (
    <>
      <p className={page.quiet}>{t('sourcesHint')}</p>
      {isOwner && !making && (
        <Button className={page.primary!} onPress={() => setMaking(true)}>
          {t('newSource')}
        </Button>
      )}
      {making && <NewSource onDone={done} onCancel={() => setMaking(false)} />}
      <DeletedHere prefix="source:" />
      <p role="status">{error?.message ?? (data ? data.length === 0 && t('noSources') : t('loading'))}</p>
      <ul className={page.rows}>
        {data
          ?.filter(({ id }) => !hidden.has(`source:${id}`))
          .map((source) => (
            <SourceRow key={source.id} source={source} mayChange={isOwner} previews={source.id === previewed} />
          ))}
      </ul>
    </>
  );
}
