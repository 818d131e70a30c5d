import { createContext, memo, useContext, useMemo } from 'react';
import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import type { Schemas } from '../api/client';
import { blocks } from './blocks';
import { CitationChip } from './CitationChip';
import { citationMarkers } from './citation-markers';

type Citation = Schemas['Citation'];

interface Cited {
  citations: Citation[];
  onOpen: (citation: Citation) => void;
}

const Citations = createContext<Cited>({ citations: [], onOpen: () => undefined });

/** Streaming Markdown. Raw HTML is shown as text, images are not loaded, links open in a new tab. */
export function Answer({ text, citations, onOpen }: Cited & { text: string }) {
  const numbers = citations.map((citation) => citation.number).join();
  const plugins = useMemo(
    () => [remarkGfm, citationMarkers(new Set(numbers.split(',').filter(Boolean).map(Number)))],
    [numbers],
  );
  const cited = useMemo(() => ({ citations, onOpen }), [citations, onOpen]);
  return (
    <Citations value={cited}>
      {blocks(text).map((block, index) => (
        <Block key={index} text={block} plugins={plugins} />
      ))}
    </Citations>
  );
}

interface BlockProps {
  text: string;
  plugins: React.ComponentProps<typeof Markdown>['remarkPlugins'];
}

const Block = memo(({ text, plugins }: BlockProps) => (
  <Markdown remarkPlugins={plugins} components={COMPONENTS} disallowedElements={['img']} unwrapDisallowed>
    {text}
  </Markdown>
));

function Marker({ number }: { number: string }) {
  const { citations, onOpen } = useContext(Citations);
  const citation = citations.find((each) => each.number === Number(number));
  return citation ? <CitationChip citation={citation} onOpen={onOpen} /> : null;
}

/** Kept stable while an answer changes, because a recreated chip would lose the focus. */
const COMPONENTS: Components = {
  ...({ 'citation-marker': Marker } as Components),
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer">
      {children}
    </a>
  ),
};
