import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button, Dialog, Heading, Modal } from 'react-aria-components';
import { Link } from 'wouter';
import { api, body, type Schemas } from '../api/client';
import { type Key, number, t } from '../i18n';
import { nameOf } from '../shell/counted';
import dialogs from '../shell/dialogs.module.css';
import style from '../shell/page.module.css';
import { KINDS } from './kinds';

type Taken = Schemas['TakenMemory'];
/** What to forget: all that mentions a text or answers a question. */
export type Forgettable = { about: string } | { query: string };
const WHY = {
  mentions: 'whyMentions',
  answers: 'whyAnswers',
  words: 'whyWords',
  session: 'whySession',
  id: 'whyChosen',
  along: 'whyAlong',
} as const satisfies Record<Taken['why'], Key>;
interface Props {
  wanted: Forgettable;
  title: string;
  /** Says whether anything was forgotten. */
  onClose: (forgotten: boolean) => void;
}

/** Shows first what would be deleted and why, then what was deleted and what remains elsewhere. */
export function Forget({ wanted, title, onClose }: Props) {
  const client = useQueryClient();
  const preview = useQuery({
    queryKey: ['forget', wanted],
    gcTime: 0,
    queryFn: () => body(api.POST('/v1/memories/forget', { body: { ids: [], ...wanted, preview: true } })),
  });
  const forget = useMutation({
    mutationFn: () => body(api.POST('/v1/memories/forget', { body: { ids: [], ...wanted, preview: false } })),
    onSuccess: () => {
      for (const key of ['memories', 'world']) void client.invalidateQueries({ queryKey: [key] });
    },
  });
  const found = preview.data;
  const close = () => onClose(Boolean(forget.data));
  const nothing = found && Object.values(found.removed).every((count) => count === 0);
  return (
    <Modal isOpen isDismissable className={dialogs.modal!} onOpenChange={close}>
      <Dialog role="alertdialog" className={`${dialogs.dialog} ${dialogs.wide}`}>
        <Heading slot="title">{forget.data ? t('forgotten') : title}</Heading>
        {forget.data ? (
          <Receipt receipt={forget.data} />
        ) : (
          <div role="status">{found ? <Preview found={found} /> : (preview.error?.message ?? t('loading'))}</div>
        )}
        <p role="alert" className={style.error}>
          {forget.error?.message}
        </p>
        <div className={dialogs.actions}>
          {forget.data || nothing ? (
            <Button autoFocus onPress={close}>
              {t('close')}
            </Button>
          ) : (
            <>
              <Button onPress={close}>{t('cancel')}</Button>
              <Button
                className={dialogs.danger!}
                isDisabled={!found}
                isPending={forget.isPending} // a disabled button would lose the focus
                onPress={() => forget.mutate()}
              >
                {t('forget')}
              </Button>
            </>
          )}
        </div>
      </Dialog>
    </Modal>
  );
}

function Preview({ found }: { found: Schemas['ForgetResponse'] }) {
  const { memories, removed, transcripts } = found;
  const more = (removed.memory ?? 0) - memories.length;
  if (memories.length === 0 && !removed.world) return <p>{t('nothingToForget')}</p>;
  return (
    <>
      <p>{t('wouldGo')}</p>
      <ul className={style.rows}>
        {memories.map((memory) => (
          <li key={memory.id}>
            <span className={style.words}>
              <span>{memory.content}</span>
              <span className={style.quiet}>{t(WHY[memory.why], { words: (memory.words ?? []).join(', ') })}</span>
            </span>
            <span className={style.badge}>{t(KINDS[memory.kind])}</span>
          </li>
        ))}
      </ul>
      {more > 0 && <p className={style.quiet}>{t('andMore', { count: number(more) })}</p>}
      {Boolean(removed.world) && <p>{t('worldToo')}</p>}
      <Standing transcripts={transcripts} />
    </>
  );
}

/** Counts of deleted and remaining rows by table; zero remaining proves the deletion. */
function Receipt({ receipt: { removed, remaining, transcripts } }: { receipt: Schemas['ForgetResponse'] }) {
  const left = Object.values(remaining).reduce((sum, count) => sum + count, 0);
  return (
    <div role="status">
      <div className={style.table}>
        <table>
          <thead>
            <tr>
              <th>{t('whatWentAway')}</th>
              <th className={style.number}>{t('removedCount')}</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(removed)
              .filter(([, count]) => count > 0)
              .map(([table, count]) => (
                <tr key={table}>
                  <td>{nameOf(table)}</td>
                  <td className={style.number}>{number(count)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
      <p>{left === 0 ? t('nothingRemains') : t('remains', { what: inWords(remaining) })}</p>
      <Standing transcripts={transcripts} />
    </div>
  );
}

/** A note that conversations keep their transcripts, which forgetting does not change. */
function Standing({ transcripts: { messages, sessions } }: { transcripts: Schemas['StandingTranscripts'] }) {
  if (messages === 0) return null;
  return (
    <>
      <p>{t('transcriptsStand', { count: number(messages) })}</p>
      <ul>
        {sessions.map((id) => (
          <li key={id}>
            <TranscriptLink id={id} />
          </li>
        ))}
      </ul>
    </>
  );
}

function TranscriptLink({ id }: { id: string }) {
  const { data } = useQuery({
    queryKey: ['session-of-memory', id],
    queryFn: () => body(api.GET('/v1/sessions/{session_id}', { params: { path: { session_id: id } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return <Link href={`/c/${id}`}>{data?.title ?? t('untitled')}</Link>;
}

const inWords = (counts: Record<string, number>) =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([table, count]) => `${nameOf(table)} ${number(count)}`)
    .join(', ');
