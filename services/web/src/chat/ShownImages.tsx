import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { Button, Dialog, DialogTrigger, Modal } from 'react-aria-components';
import { api, body, everyPage } from '../api/client';
import { t } from '../i18n';
import dialogs from '../shell/dialogs.module.css';
import style from './chat.module.css';

const PLACE = '/v1/sessions/{session_id}/attachments';

/** The images of a question; a click shows one as large as the screen allows. */
export function ShownImages({ sessionId, ids }: { sessionId: string; ids: readonly string[] }) {
  const { data } = useQuery({
    queryKey: ['images', sessionId, ids],
    queryFn: () =>
      everyPage((cursor) => {
        const params = { path: { session_id: sessionId }, query: { limit: 200, ...cursor } };
        return body(api.GET(PLACE, { params }));
      }),
  });
  return (
    <ul className={style.images} aria-label={t('imagesOfQuestion')}>
      {ids.map((id) => (
        <li key={id}>
          <ShownImage sessionId={sessionId} id={id} name={data?.find((image) => image.id === id)?.name ?? t('image')} />
        </li>
      ))}
    </ul>
  );
}

function ShownImage({ sessionId, id, name }: { sessionId: string; id: string; name: string }) {
  const { data, error } = useQuery({
    queryKey: ['image', id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => {
      const params = { path: { session_id: sessionId, attachment_id: id } };
      return body(api.GET(`${PLACE}/{attachment_id}`, { params, parseAs: 'blob' })) as Promise<Blob>;
    },
  });
  const url = useMemo(() => data && URL.createObjectURL(data), [data]);
  useEffect(() => () => void (url && URL.revokeObjectURL(url)), [url]);
  if (!url) return <span className={style.note}>{error?.message ?? t('loading')}</span>;
  return (
    <DialogTrigger>
      <Button className={style.image!} aria-label={t('enlarge', { name })}>
        <img src={url} alt={name} />
      </Button>
      <Modal isDismissable className={dialogs.modal!}>
        <Dialog className={`${dialogs.dialog} ${style.enlarged}`} aria-label={name}>
          {({ close }) => (
            <>
              <img src={url} alt={name} />
              <div className={dialogs.actions}>
                <Button autoFocus onPress={close}>
                  {t('close')}
                </Button>
              </div>
            </>
          )}
        </Dialog>
      </Modal>
    </DialogTrigger>
  );
}
