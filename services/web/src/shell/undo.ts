// Deletions that can be undone: what is deleted disappears at once, the request is sent a moment later. When the page is
// left, it is sent then; if the browser dies before, nothing was deleted, and everything is there again.

const SECONDS = 10;
const SECONDS_AT_MOST = 60; // while the pointer or the focus is on the message
const SECONDS_OF_RECEIPT = 20;

export interface Deletion {
  /** What is hidden from lists, such as `document:` and its id. */
  key: string;
  /** Says what is deleted. */
  text: string;
  /** Sends the request, to be finished even if the page goes away; returns what to show of the receipt. */
  send: () => Promise<Receipt | undefined>;
  /** Brings what the pages show up to date. */
  after?: () => unknown;
  undone?: () => void;
}

/** The proof of a deletion, in the words and numbers to show. */
export interface Receipt {
  /** In one sentence what is left. */
  sentence: string;
  parts: ReceiptPart[];
  /** Reads it again as long as some services have not confirmed. */
  again?: () => Promise<Receipt>;
}

export interface ReceiptPart {
  /** The service, if there are several. */
  service?: string;
  kind: string;
  removed: number;
  remaining: number;
}

export interface Notice extends Deletion {
  state: 'waiting' | 'sending' | 'done' | 'failed';
  error?: string;
  receipt?: Receipt;
}

type Listener = () => void;
type Timer = ReturnType<typeof setTimeout>;

interface Clock {
  act: () => void;
  seconds: number;
  timer: Timer;
}

/** The deletions of this page. Its snapshots are the same object until something changes. */
export class Deletions {
  private notices: readonly Notice[] = [];
  private gone: ReadonlySet<string> = new Set();
  private proofs: readonly Notice[] = [];
  private listeners = new Set<Listener>();
  private clocks = new Map<string, Clock>();
  private last = new Map<string, Timer>();

  subscribe = (listener: Listener): Listener => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** What is to be told, oldest first. */
  shown = (): readonly Notice[] => this.notices;
  /** The keys of what is deleted, or soon will be. */
  hidden = (): ReadonlySet<string> => this.gone;
  /** Deletions since the page was opened that have a receipt, newest first. */
  receipts = (): readonly Notice[] => this.proofs;

  /** Deletes after a while, unless it is undone. */
  later(deletion: Deletion): void {
    const { key } = deletion;
    if (this.gone.has(key)) return;
    this.notices = [...this.notices, { ...deletion, state: 'waiting' }];
    this.gone = new Set([...this.gone, key]);
    const send = () => void this.now(key);
    this.start(key, send, SECONDS);
    this.last.set(key, setTimeout(send, 1000 * SECONDS_AT_MOST));
    this.tell();
  }

  undo(key: string): void {
    const notice = this.notices.find((each) => each.key === key && each.state === 'waiting');
    if (!notice) return;
    this.reveal(key);
    this.dismiss(key);
    notice.undone?.();
  }

  /** Stops the clock while somebody is at the message. */
  hold(key: string): void {
    clearTimeout(this.clocks.get(key)?.timer);
  }

  release(key: string): void {
    const clock = this.clocks.get(key);
    if (clock) this.start(key, clock.act, clock.seconds);
  }

  /** Sends the request of a deletion that waits. */
  async now(key: string): Promise<void> {
    const notice = this.notices.find((each) => each.key === key && each.state === 'waiting');
    if (!notice) return;
    this.stop(key);
    this.change(key, { state: 'sending' });
    try {
      const receipt = await notice.send();
      await notice.after?.();
      if (!receipt) return this.dismiss(key);
      this.proofs = [{ ...notice, state: 'done', receipt }, ...this.proofs];
      this.start(key, () => this.dismiss(key), SECONDS_OF_RECEIPT);
      this.change(key, { state: 'done', receipt });
    } catch (problem) {
      this.reveal(key);
      this.change(key, { state: 'failed', error: (problem as Error).message });
    }
  }

  /** Sends all that wait. */
  async flush(): Promise<void> {
    await Promise.all(this.notices.map(({ key }) => this.now(key)));
  }

  dismiss(key: string): void {
    this.stop(key);
    this.notices = this.notices.filter((each) => each.key !== key);
    this.tell();
  }

  private change(key: string, values: Partial<Notice>): void {
    this.notices = this.notices.map((each) => (each.key === key ? { ...each, ...values } : each));
    this.tell();
  }

  private reveal(key: string): void {
    this.gone = new Set([...this.gone].filter((each) => each !== key));
  }

  private start(key: string, act: () => void, seconds: number): void {
    clearTimeout(this.clocks.get(key)?.timer);
    this.clocks.set(key, { act, seconds, timer: setTimeout(act, 1000 * seconds) });
  }

  private stop(key: string): void {
    clearTimeout(this.clocks.get(key)?.timer);
    clearTimeout(this.last.get(key));
    this.clocks.delete(key);
    this.last.delete(key);
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

export const deletions = new Deletions();
globalThis.addEventListener?.('pagehide', () => void deletions.flush());
