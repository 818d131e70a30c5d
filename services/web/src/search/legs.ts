import { type Key, t, told } from '../i18n';

/** What each leg of a search looks at. */
const LEGS: Record<string, Key> = {
  lexical: 'legLexical',
  dense: 'legDense',
  graph: 'legGraph',
  residual: 'legResidual',
  named: 'legNamed',
};

/** The leg's name, translated if the page knows it. */
export const legName = (leg: string): string => told(`leg.${leg}`, leg);

/** What the leg looks at, in words; nothing for one that this page does not know. */
export const legInWords = (leg: string): string | undefined => (LEGS[leg] ? t(LEGS[leg]) : undefined);
