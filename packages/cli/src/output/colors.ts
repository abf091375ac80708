import type pico from 'picocolors';
import type { Output, World } from '../world/world.ts';

export type Colors = ReturnType<(typeof pico)['createColors']>;

/** Colours for one of the streams; none where it is no terminal, or none are wanted. */
export async function colorsFor({ environment }: Pick<World, 'environment'>, output: Output): Promise<Colors> {
  const { default: pico } = await import('picocolors');
  return pico.createColors(output.terminal && !environment.colorless);
}
