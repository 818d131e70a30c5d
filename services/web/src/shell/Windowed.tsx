import { type ReactNode, startTransition, useEffect, useRef, useState } from 'react';

interface Props {
  /** Pixels that the part may need; once it was shown, it keeps the height that it had. */
  height: number;
  children: () => ReactNode;
}

const MARGIN = 1200; // pixels above and below what is seen

/** A part of a long list, which exists only near what is seen, or while the focus is in it. */
export function Windowed({ height, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState(false);
  const [left, setLeft] = useState(height);
  useEffect(() => {
    const part = box.current!; // a last report may come when the part is gone
    const observer = new IntersectionObserver(
      ([entry]) => {
        const { isIntersecting, boundingClientRect } = entry!;
        if (!isIntersecting && part.contains(document.activeElement)) return;
        startTransition(() => {
          if (!isIntersecting && boundingClientRect.height > 0) setLeft(boundingClientRect.height);
          setNear(isIntersecting);
        });
      },
      { root: part.closest('main'), rootMargin: `${MARGIN}px 0px` },
    );
    observer.observe(part);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} role="presentation" style={near ? undefined : { height: left }}>
      {near && children()}
    </div>
  );
}
