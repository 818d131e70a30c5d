import { useMutation, useQueryClient } from '@tanstack/react-query';
import { memo, Suspense, startTransition, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { Link, useSearchParams } from 'wouter';
import { api, Problem, type Schemas } from '../api/client';
import { useArtifactPanel } from '../artifact/use-panel';
import type { Wish } from '../artifact/wishes';
import { t, worded } from '../i18n';
import { useSessions } from '../session/use-sessions';
import { lazily } from '../shell/lazily';
import { Answer } from './Answer';
import { Checked } from './Checked';
import { Composer } from './Composer';
import { Considered } from './Considered';
import style from './chat.module.css';
import { onCitationKey } from './citation-keys';
import { Doubts } from './Doubts';
import { type Asked, exchange, firstQuoted, listed, type Shown, underWay } from './exchange';
import { Feedback } from './Feedback';
import { sendImages } from './images';
import { Question } from './Question';
import { SessionActions } from './SessionActions';
import { Siblings } from './Siblings';
import { Steps } from './Steps';
import { useMessages, useRuns, useSession } from './use-messages';
import { useTurn } from './use-turn';
import type { FirstQuestion } from './Welcome';

const SourcePanel = lazily(() => import('../viewer/SourcePanel'), 'aside');
const ArtifactPanel = lazily(() => import('../artifact/ArtifactPanel'), 'aside');
type Message = Schemas['Message'];
const NO_MESSAGES: Message[] = [];
const NEAR_THE_END = 120; // pixels
const AT_ONCE = 20; // messages

/** Options of a question. Without `parentId` it follows the newest message. */
interface More {
  key?: string;
  parentId?: string | null;
  wish?: Wish;
  images?: string[];
  /** The documents that the answer may draw on; none is no limit. */
  documents?: string[];
}

/** A session: its questions and answers, and beside them the open citation, which is in the URL. */
export default function Conversation({ sessionId }: { sessionId: string }) {
  const client = useQueryClient();
  const { data: known, error: unread } = useMessages(sessionId);
  const messages = known ?? NO_MESSAGES;
  const { data: runs } = useRuns(sessionId);
  const [asked, setAsked] = useState<Asked>();
  const onEnd = useCallback(async () => {
    const keys = [['messages', sessionId], ['runs', sessionId], ['artifact', sessionId], ['sessions']]; // the first turn names the session
    await Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })));
    setAsked(undefined);
  }, [client, sessionId]);
  const { turn, lost, error, send, stop } = useTurn(underWay(messages), onEnd);
  const ask = useCallback(
    (content: string, { key = crypto.randomUUID(), parentId, wish = {}, images = [], documents = [] }: More = {}) => {
      setAsked({ content, parentId, images, documents });
      const shown = images.length > 0 ? { attachment_ids: images } : {};
      const limit = documents.length > 0 ? { document_ids: documents } : {};
      const place = parentId === undefined ? {} : { parent_id: parentId };
      const body = { content, ...wish, ...shown, ...limit, ...place };
      send({ path: `/v1/sessions/${sessionId}/messages`, body, key });
    },
    [send, sessionId],
  );
  const answerAgain = useCallback(
    (answer: Message) => {
      setAsked({ parentId: answer.parent_id ?? null });
      send({ path: `/v1/messages/${answer.id}/regenerate`, body: {}, key: crypto.randomUUID() });
    },
    [send],
  );
  const edit = useCallback(
    (question: Message, content: string) =>
      ask(content, {
        parentId: question.parent_id ?? null,
        images: question.attachment_ids ?? [],
        documents: question.document_ids ?? [],
      }),
    [ask],
  );
  const askNext = async (content: string, images: File[], documents: string[]) =>
    ask(content, { documents, ...(images.length > 0 && { images: await sendImages(sessionId, images) }) });
  const move = useMutation({
    mutationFn: (id: string) => {
      const params = { path: { session_id: sessionId } };
      return api.PUT('/v1/sessions/{session_id}/head', { params, body: { message_id: id, newest: true } });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['messages', sessionId] }),
  });
  useEffect(() => {
    const first = history.state as FirstQuestion | null;
    if (!first?.ask) return;
    history.replaceState(null, '');
    ask(first.ask, { key: first.key, images: first.images, documents: first.documents });
  }, [ask]);
  const running = turn?.state === 'running' && !error;
  const stored = useMemo(() => listed(messages, runs), [messages, runs]);
  const shown = useMemo(() => exchange(stored, asked, turn), [stored, asked, turn]);
  const source = useSource(shown);
  const writing = running ? turn.writing : undefined;
  const artifact = useArtifactPanel(sessionId, writing);
  const { ready, earlier } = useNewestFirst(shown);
  const quoted = firstQuoted(shown);
  const end = useFollowedEnd();
  const title = useTitle(sessionId);
  const status = error ?? unread?.message ?? move.error?.message ?? (lost && running ? t('lost') : '');
  const finished = turn?.state === 'completed' ? t('answered', { count: turn.citations.length }) : '';

  if (!known && unread instanceof Problem && unread.type === 'session-not-found')
    return (
      <main className={style.welcome}>
        <h1>{t('noConversation')}</h1>
        <p>
          <Link href="/">{t('newSession')}</Link>
        </p>
      </main>
    );
  return (
    <div className={style.page} data-panel={Boolean(source.citation) || artifact.isOpen}>
      <main className={style.conversation}>
        <header className={style.title}>
          <h1>{title ?? t('untitled')}</h1>
          <div className={style.actions}>
            <Button onPress={() => artifact.open()}>{t('artifact')}</Button>
            {messages.length > 0 && !running && <SessionActions sessionId={sessionId} title={title ?? t('untitled')} />}
          </div>
        </header>
        <div
          className={style.messages}
          role="log"
          aria-live="off"
          tabIndex={0}
          aria-label={t('conversation')}
          data-busy={running}
          onKeyDown={onCitationKey}
        >
          <div ref={end}>
            {earlier && <p className={style.note}>{t('loading')}</p>}
            {ready.map((each) =>
              each.role === 'user' ? (
                <MemoQuestion key={each.key} sessionId={sessionId} question={each} onEdit={edit} onMove={move.mutate} />
              ) : (
                <MemoAnswer
                  key={each.key}
                  answer={each}
                  running={running && each.turn === turn}
                  isFirst={each.key === quoted}
                  onOpen={source.open}
                  onArtifact={artifact.open}
                  onAgain={answerAgain}
                  onMove={move.mutate}
                />
              ),
            )}
            <p role="status" className={style.note}>
              {status || (turn?.state === 'cancelled' ? t('cancelled') : '')}
              <span className="hidden">{finished}</span>
            </p>
          </div>
        </div>
        <Composer place={sessionId} running={running} onAsk={askNext} onStop={stop} />
      </main>
      {source.citation && (
        <Suspense fallback={<aside aria-busy />}>
          <SourcePanel
            citation={source.citation}
            others={source.others}
            onOpen={(citation) => source.open(source.runId, citation)}
            onClose={source.close}
          />
        </Suspense>
      )}
      {artifact.isOpen && (
        <Suspense fallback={<aside aria-busy />}>
          <ArtifactPanel
            sessionId={sessionId}
            index={artifact.index}
            writing={writing}
            busy={running}
            hidden={Boolean(source.citation)}
            takesFocus={artifact.takesFocus.current}
            onAsk={(content, wish) => ask(content, { wish })}
            onOpen={artifact.open}
            onClose={artifact.close}
          />
        </Suspense>
      )}
    </div>
  );
}

/** What was done for a stored answer. */
const executed = (message: Message | undefined) =>
  message?.steps_executed?.map((step) => ({ stage: step, label: worded(step), done: true })) ?? [];

interface AnswerProps {
  answer: Shown;
  running: boolean;
  isFirst: boolean;
  onOpen: (runId: string | undefined, citation: Schemas['Citation']) => void;
  onArtifact: (index?: number) => void;
  onAgain: (answer: Message) => void;
  onMove: (messageId: string) => void;
}

function ShownAnswer({ answer, running, isFirst, onOpen, onArtifact, onAgain, onMove }: AnswerProps) {
  const { content, citations, removed, mode, notes, turn, runId, message } = answer;
  const open = useCallback((citation: Schemas['Citation']) => onOpen(runId, citation), [onOpen, runId]);
  const hasFailed = (turn?.state ?? message?.status) === 'failed';
  return (
    <article className={style.answer} aria-busy={running} data-run={runId}>
      <Steps steps={turn?.steps ?? executed(message)} running={running} />
      <Answer text={content} citations={citations} onOpen={open} />
      {running && turn?.writing && <Button onPress={() => onArtifact()}>{t('openWriting')}</Button>}
      {message?.artifact_index && (
        <Button onPress={() => onArtifact(message.artifact_index!)}>
          {t('openArtifact', { version: message.artifact_index })}
        </Button>
      )}
      {answer.goodMatch === false && <p className={style.note}>{t('noSource')}</p>}
      {[...new Set(notes)].map((note) => (
        <p key={note} className={hasFailed ? style.failed : style.note}>
          {note}
        </p>
      ))}
      {!running && content && <Checked mode={mode} kept={citations.length} removed={removed} isFirst={isFirst} />}
      {!running && <Doubts content={content} sentences={answer.sentences} />}
      {!running && <Considered sources={answer.sources} citations={citations} />}
      {message && !running && (
        <footer className={style.actions}>
          <Siblings message={message} onMove={onMove} />
          {message.status === 'completed' && <Feedback message={message} />}
          <Button onPress={() => onAgain(message)}>{t('again')}</Button>
        </footer>
      )}
    </article>
  );
}

/** Whether nothing that is shown differs; a message is compared by what it consists of. */
const isSame = (one: object, other: object): boolean =>
  Object.entries(one).every(([name, value]) => {
    const now = (other as Record<string, unknown>)[name];
    return Object.is(value, now) || (MESSAGES.has(name) && isSame(value, now as object));
  });
const MESSAGES: ReadonlySet<string> = new Set(['answer', 'question']);
// While an answer streams, the messages before it are not rendered again
const MemoAnswer = memo(ShownAnswer, isSame);
const MemoQuestion = memo(Question, isSame);

/** The newest messages, and step by step, without holding up the page, all those before them. */
function useNewestFirst(shown: readonly Shown[]) {
  const [count, setCount] = useState(AT_ONCE);
  const earlier = shown.length > count;
  useEffect(() => {
    if (earlier) startTransition(() => setCount(count + AT_ONCE));
  }, [earlier, count]);
  return { ready: earlier ? shown.slice(-count) : shown, earlier };
}

/** The open citation, by the run and the number in the URL. */
function useSource(shown: readonly Shown[]) {
  const [search, setSearch] = useSearchParams();
  const [runId, number] = (search.get('source') ?? '').split('.');
  const others = shown.find((each) => each.role === 'assistant' && each.runId === runId)?.citations ?? [];
  const citation = others.find((each) => each.number === Number(number));
  const open = useCallback(
    (run: string | undefined, { number }: Schemas['Citation']) =>
      setSearch((now) => {
        now.set('source', `${run}.${number}`);
        return now;
      }),
    [setSearch],
  );
  const close = () => {
    setSearch((now) => {
      now.delete('source');
      return now;
    });
    document.querySelector<HTMLElement>(`[data-run="${runId}"] [data-citation="${number}"]`)?.focus();
  };
  return { citation, others, runId, open, close };
}

/** Keeps the end visible while the reader is there. */
function useFollowedEnd() {
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = content.current?.parentElement;
    if (!box) return; // there is no such conversation
    let height = 0;
    // Called when the layout of a frame is known; asking for it earlier would have it made twice
    const observer = new ResizeObserver(() => {
      const left = height - box.scrollTop - box.clientHeight;
      if (height === 0 || left < NEAR_THE_END) box.scrollTop = box.scrollHeight;
      height = box.scrollHeight;
    });
    observer.observe(content.current!);
    return () => observer.disconnect();
  }, []);
  return content;
}

function useTitle(sessionId: string): string | null | undefined {
  const { data } = useSessions();
  const { data: session } = useSession(sessionId); // one that is archived or far down is not listed
  const listed = data?.pages.flatMap((page) => page.items).find((each) => each.id === sessionId);
  return (listed ?? session)?.title;
}
