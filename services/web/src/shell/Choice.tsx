import { useId } from 'react';
import style from './page.module.css';

interface Props<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; name: string }[];
  onChange: (value: Value) => void;
  hidden?: boolean;
}

/** A choice in the browser's native list. With `hidden`, the label is only for screen readers. */
export function Choice<Value extends string>({ label, value, options, onChange, hidden = false }: Props<Value>) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className={hidden ? 'hidden' : style.quiet}>
        {label}
      </label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value as Value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
    </div>
  );
}
