import { Link, useLocation } from 'wouter';
import style from './page.module.css';

/** The parts of a page, each with its own URL. */
export function Sections({ label, parts }: { label: string; parts: { href: string; name: string }[] }) {
  const [path] = useLocation();
  return (
    <nav aria-label={label} className={style.sections}>
      {parts.map(({ href, name }) => (
        <Link key={href} href={href} aria-current={path === href ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}
