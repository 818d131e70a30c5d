// Builds an answer from a run's events. Pure: the screen is a function of the events received so far.
import type { Schemas } from '../api/client';
import type { RunEvent } from '../api/events';
import { explained, told, worded } from '../i18n';

export interface Step {
  stage: string;
  label: string;
  done: boolean;
}

/** A preview of the artifact while a run writes it, until its version exists. */
export interface Writing {
  text: string;
}

export interface Turn {
  runId: string | undefined;
  state: 'running' | 'completed' | 'failed' | 'cancelled';
  mode: Schemas['AnswerMode'] | undefined;
  steps: Step[];
  text: string;
  thinking: string;
  citations: Schemas['Citation'][];
  /** Citations that the check rejected. */
  removed: number;
  issues: string[];
  /** False if the search found nothing that matches the question well. */
  goodMatch: boolean | undefined;
  writing: Writing | undefined;
}

export const EMPTY: Turn = {
  runId: undefined,
  state: 'running',
  mode: undefined,
  steps: [],
  text: '',
  thinking: '',
  citations: [],
  removed: 0,
  issues: [],
  goodMatch: undefined,
  writing: undefined,
};

export function reduce(turn: Turn, { name, data }: RunEvent): Turn {
  switch (name) {
    case 'run_started':
      return { ...turn, runId: data.run_id, mode: data.mode };
    case 'stage_started':
      return {
        ...turn,
        steps: [...turn.steps, { stage: data.stage, label: told(`stage.${data.stage}`, data.label), done: false }],
      };
    case 'stage_completed':
      return { ...turn, steps: turn.steps.map((step) => (step.stage === data.stage ? { ...step, done: true } : step)) };
    case 'stage_output':
      return typeof data.output.good_match === 'boolean' ? { ...turn, goodMatch: data.output.good_match } : turn;
    case 'message_delta':
      return { ...turn, text: turn.text + data.text };
    case 'thinking_delta':
      return { ...turn, thinking: turn.thinking + data.text };
    case 'artifact_started':
      return { ...turn, writing: { text: '' } };
    case 'artifact_delta':
      return { ...turn, writing: { text: (turn.writing?.text ?? '') + data.text } };
    case 'message_restarted':
      return { ...turn, text: '', thinking: '', citations: [] };
    case 'citation':
      return { ...turn, citations: [...turn.citations, data.citation] };
    case 'issue':
      return { ...turn, issues: [...turn.issues, worded(data.message)] };
    case 'message_completed':
      return turn; // the run's last event has everything
    case 'run_completed':
      return {
        ...turn,
        state: 'completed',
        mode: data.mode,
        text: data.content,
        citations: data.citations,
        removed: data.removed_citations,
      };
    case 'run_failed':
      return { ...turn, state: 'failed', issues: [...turn.issues, explained(data.error_type, data.message)] };
    case 'run_cancelled':
      return { ...turn, state: 'cancelled' };
    default:
      return turn; // an event type newer than this page
  }
}
