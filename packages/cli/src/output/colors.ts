import type pico from 'picocolors';
import type { CommandIo, Output } from '../io/io.ts';

export type Colors = ReturnType<(typeof pico)['createColors']>;

/** Loads the color functions, which have no effect if the stream is not a terminal or if `NO_COLOR` is set. */
export async function loadColors({ environment }: Pick<CommandIo, 'environment'>, output: Output): Promise<Colors> {
  const { default: pico } = await import('picocolors');
  return pico.createColors(output.isTerminal && !environment.noColor);
}
