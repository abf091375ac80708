import type { Context } from '../command-line/context.ts';
import { UsageError } from '../failure.ts';
import { canAsk, confirm } from '../io/confirm.ts';
import type { Block } from '../output/report.ts';

/** `skip`: the option `--skip` confirms in advance. */
export type ConfirmationOptions = { readonly skip: boolean };

/** Throws a `UsageError` if the confirmation at the end cannot be asked for, before anything is read, prompted for or sent. */
export function requireConfirmable({ io }: Pick<Context, 'io'>, { skip }: ConfirmationOptions): void {
  if (skip || canAsk(io)) return;
  throw new UsageError('This command asks for confirmation, but there is no terminal.', 'Pass --skip to confirm.');
}

/** Shows the change and asks for confirmation. The answer "no" throws a `Failure`. */
export async function confirmChange(
  { io, messages }: Pick<Context, 'io' | 'messages'>,
  { skip }: ConfirmationOptions,
  blocks: readonly Block[],
  question: string,
): Promise<void> {
  await messages.show(...blocks);
  if (!skip) await confirm(io, question, '--skip');
}
