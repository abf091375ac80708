import type { Context } from '../command-line/context.ts';
import { UsageError } from '../failure.ts';
import type { Block } from '../output/report.ts';
import { canAsk, confirm } from '../world/confirm.ts';

/** Whether the command line already says yes: `--skip`. */
export type Consent = { readonly skip: boolean };

/**
 * Fails right away where the question at the end could not be asked: before anything is read, prompted for or sent. It
 * never assumes yes.
 */
export function requireAskable({ world }: Pick<Context, 'world'>, { skip }: Consent): void {
  if (skip || canAsk(world)) return;
  throw new UsageError('This needs confirmation, but there is no terminal to ask on.', 'Pass --skip to confirm.');
}

/** Shows what will be done, then asks once. A no is a `Failure`, with nothing done. */
export async function obtainConsent(
  { world, talk }: Pick<Context, 'world' | 'talk'>,
  { skip }: Consent,
  blocks: readonly Block[],
  question: string,
): Promise<void> {
  await talk.show(...blocks);
  if (!skip) await confirm(world, question, '--skip');
}
