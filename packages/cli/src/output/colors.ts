import type pico from 'picocolors';
import type { Io, Output } from '../io/io.ts';

export type Colors = ReturnType<(typeof pico)['createColors']>;

/** Colors for one of the streams; without effect if it is not a terminal or if `NO_COLOR` is set. */
export async function colorsFor({ environment }: Pick<Io, 'environment'>, output: Output): Promise<Colors> {
  const { default: pico } = await import('picocolors');
  return pico.createColors(output.isTerminal && !environment.noColor);
}
