// Sentences of the API in another language. Pure.

/** An English sentence and its translation; `{}` in both stands for what differs, in the same order. */
export type Sentence = readonly [english: string, own: string];

/** Returns the text in the other language, also what it quotes; one that is not known as it is. */
export function translated(text: string, sentences: readonly Sentence[]): string {
  for (const [english, own] of sentences) {
    const values = filled(english.split('{}'), text);
    if (!values) continue;
    const told = values.map((value) => translated(value, sentences));
    return own.split('{}').reduce((sentence, part, index) => `${sentence}${told[index - 1]}${part}`);
  }
  return text;
}

/** Returns what stands between the parts in the text; undefined if it is another sentence. */
function filled(parts: readonly string[], text: string): string[] | undefined {
  const [first = '', ...others] = parts;
  const last = others.pop();
  if (last === undefined) return first === text ? [] : undefined;
  const end = text.length - last.length;
  if (!text.startsWith(first) || !text.endsWith(last)) return undefined;
  const values: string[] = [];
  let from = first.length;
  for (const part of others) {
    const at = text.indexOf(part, from);
    if (at < 0) return undefined;
    values.push(text.slice(from, at));
    from = at + part.length;
  }
  return from > end ? undefined : [...values, text.slice(from, end)];
}
