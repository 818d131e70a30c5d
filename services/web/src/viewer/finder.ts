/** What can be searched in the source panel. */
export interface Finder {
  /** Returns how many places have the words. */
  find: (words: string) => Promise<number>;
  /** Shows one of these places, from 0. */
  show: (index: number) => void;
  /** Returns to the passage. */
  clear: () => void;
}

export const MOST_PLACES = 1000;
