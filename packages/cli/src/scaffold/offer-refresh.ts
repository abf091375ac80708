import { canAsk } from '../io/confirm.ts';
import type { Io } from '../io/io.ts';
import type { GuideSet } from './guides/plan-guides.ts';
import { guidesFor, type Making } from './make-project.ts';

/** Whether `init` can ask: its answers come from a terminal, and what it makes is told on one. */
export function isPersonThere(world: Io): boolean {
  return canAsk(world) && world.stdout.isTerminal;
}

/**
 * Guides of an older version are replaced when the person agrees; edited ones are not taken for granted.
 * Where nobody is there to be asked, they stay.
 */
export async function offerRefresh(world: Io, making: Making, set: GuideSet): Promise<Making> {
  if (!isPersonThere(world)) return making;
  const stale = guidesFor(set, making).filter(({ state }) => state === 'stale');
  if (stale.length === 0) return making;
  const edited = stale.filter(({ found }) => found?.edited === true).map(({ path }) => path);
  const names = stale.map(({ path }) => path).join(', ');
  const loss = edited.length === 0 ? '' : ` Your changes to ${edited.join(', ')} would be lost.`;
  const agreed = await world.prompter.confirm(
    `${names}: written by an older version. Write them again?${loss}`,
    edited.length === 0,
  );
  return agreed ? { ...making, refreshGuides: true } : making;
}
