import { startTransition, useCallback, useEffect, useReducer, useRef, useState } from 'react';
import { api } from '../api/client';
import { ask, attach, type Follow, type RunEvent, type Start } from '../api/events';
import { EMPTY, reduce, type Turn } from './turn';

const FRAME = 33; // milliseconds: what arrives within one is shown together; more often would be read no faster

type Action = RunEvent[] | 'begin';
const reducer = (turn: Turn | undefined, action: Action) =>
  action === 'begin' ? EMPTY : action.reduce(reduce, turn ?? EMPTY);

/** The running turn of a session. `resume` is a run that was in progress when the session was opened. */
export function useTurn(resume: string | undefined, onEnd: () => void) {
  const [turn, dispatch] = useReducer(reducer, undefined);
  const [lost, setLost] = useState(false);
  const [error, setError] = useState<string>();
  const abort = useRef<AbortController>(undefined);
  const followed = useRef<string>(undefined);

  const follow = useCallback(
    (how: (follow: Follow) => Promise<void>) => {
      abort.current?.abort();
      const controller = new AbortController();
      abort.current = controller;
      dispatch('begin');
      setError(undefined);
      const waiting: RunEvent[] = [];
      const show = () => {
        // A transition: the page answers clicks and keys while a long answer is rendered
        if (waiting.length && abort.current === controller) startTransition(() => dispatch(waiting.splice(0)));
      };
      const onEvent = (event: RunEvent) => {
        if (event.name === 'run_started') followed.current = event.data.run_id;
        if (waiting.push(event) === 1) setTimeout(show, FRAME);
      };
      how({ signal: controller.signal, onEvent, onLost: setLost })
        .finally(show)
        .then(onEnd)
        .catch((reason: Error) => controller.signal.aborted || setError(reason.message))
        .finally(() => controller.abort());
    },
    [onEnd],
  );

  useEffect(() => {
    // A new question is followed by its own request, even if the stored messages name its run first
    const busy = abort.current?.signal.aborted === false;
    if (resume && resume !== followed.current && !busy) follow((options) => attach(resume, options));
  }, [resume, follow]);
  useEffect(() => () => abort.current?.abort(), []);

  const send = useCallback(
    (start: Start) => {
      followed.current = undefined;
      follow((options) => ask(start, options));
    },
    [follow],
  );
  const stop = () => turn?.runId && api.POST('/v1/runs/{run_id}/cancel', { params: { path: { run_id: turn.runId } } });
  return { turn, lost, error, send, stop };
}
