import { Failure, UsageError } from '../failure.ts';
import type { World } from './world.ts';

/** Whether somebody is there to answer: questions are read from standard input and shown on standard error. */
export function canAsk(world: World): boolean {
  return world.stdin.terminal && world.stderr.terminal;
}

/**
 * Asks before something that cannot be undone. Without a terminal it never assumes yes: a `UsageError` names the flag.
 * A no is a `Failure`.
 */
export async function confirm(world: World, question: string, skipFlag: string): Promise<void> {
  if (!canAsk(world)) {
    throw new UsageError(
      'This needs confirmation, but there is no terminal to ask on.',
      `Pass ${skipFlag} to confirm.`,
    );
  }
  if (!(await world.ask.confirm(question))) throw new Failure('declined', 'Nothing was changed.');
}
