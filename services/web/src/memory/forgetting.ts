import type { QueryClient } from '@tanstack/react-query';
import { api, body } from '../api/client';
import { number, t } from '../i18n';
import { receiptOf } from '../shell/receipts';
import { deletions } from '../shell/undo';

export const keyOf = (memoryId: string): string => `memory:${memoryId}`;

/** Forgets a memory with all that follows from it, unless it is undone. */
export function forgetMemory(client: QueryClient, id: string, short: string): void {
  deletions.later({
    key: keyOf(id),
    text: t('memoryForgotten', { text: short }),
    send: async () => {
      const wanted = { ids: [id], preview: false };
      const answer = await body(api.POST('/v1/memories/forget', { body: wanted, keepalive: true }));
      const receipt = receiptOf(answer);
      const { messages } = answer.transcripts;
      if (messages > 0) receipt.sentence += ` ${t('transcriptsLeft', { count: number(messages) })}`;
      return receipt;
    },
    after: () => Promise.all(['memories', 'world'].map((key) => client.invalidateQueries({ queryKey: [key] }))),
  });
}
