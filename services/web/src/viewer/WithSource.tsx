import { type ReactNode, Suspense } from 'react';
import { useSearchParams } from 'wouter';
import type { Schemas } from '../api/client';
import { lazily } from '../shell/lazily';
import style from '../shell/page.module.css';

const SourcePanel = lazily(() => import('./SourcePanel'), 'aside');
type Citation = Schemas['Citation'];

/** A page and, beside it, the citation whose number is in the URL. */
export function WithSource({ citations, children }: { citations: Citation[]; children: ReactNode }) {
  const [search, setSearch] = useSearchParams();
  const opened = search.get('source');
  const citation = citations.find((each) => String(each.number) === opened);
  const close = () => {
    setSearch((now) => {
      now.delete('source');
      return now;
    });
    document.querySelector<HTMLElement>(`[data-citation="${opened}"]`)?.focus();
  };
  return (
    <div className={style.beside} data-panel={Boolean(citation)}>
      {children}
      {citation && (
        <Suspense fallback={<aside aria-busy />}>
          <SourcePanel
            citation={citation}
            others={citations}
            onOpen={({ number }) => setSearch((now) => withSource(now, number))}
            onClose={close}
          />
        </Suspense>
      )}
    </div>
  );
}

/** The URL that opens the citation of this number. */
export function withSource(search: URLSearchParams, number: number): URLSearchParams {
  search.set('source', String(number));
  return search;
}
