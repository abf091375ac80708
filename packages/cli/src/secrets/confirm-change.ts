import type { CommandContext } from '../command-line/context.ts';
import { UsageError } from '../failure.ts';
import { canPrompt, requireConfirmation } from '../io/confirm.ts';
import type { CommandReportBlock } from '../output/report.ts';

/** With `skip`, a command does not ask for confirmation. */
export type ConfirmationOptions = { readonly skip: boolean };

/**
 * Throws a `UsageError` if the command must ask for confirmation but has no terminal. Call this before any prompt or request.
 */
export function requireConfirmationPossible({ io }: Pick<CommandContext, 'io'>, { skip }: ConfirmationOptions): void {
  if (skip || canPrompt(io)) return;
  throw new UsageError(
    'This command asks for confirmation, but there is no terminal.',
    'Pass --skip to continue without confirmation.',
  );
}

/** Shows a change and asks for confirmation. Throws a `Failure` if the user answers "no". */
export async function confirmChange(
  { io, messages }: Pick<CommandContext, 'io' | 'messages'>,
  { skip }: ConfirmationOptions,
  blocks: readonly CommandReportBlock[],
  question: string,
): Promise<void> {
  await messages.show(...blocks);
  if (!skip) await requireConfirmation(io, question, '--skip');
}
