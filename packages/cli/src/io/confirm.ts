import { Failure, UsageError } from '../failure.ts';
import type { CommandIo } from './io.ts';

/** Returns whether prompts are possible. They need a terminal on standard input and on standard error. */
export function canPrompt(io: CommandIo): boolean {
  return io.stdin.isTerminal && io.stderr.isTerminal;
}

/**
 * Asks for confirmation. Throws a `Failure` with `declinedMessage` if the user answers "no", and a `UsageError` that names
 * `skipFlag` if there is no terminal.
 */
export async function requireConfirmation(
  io: CommandIo,
  question: string,
  skipFlag: string,
  declinedMessage = 'Nothing was changed.',
): Promise<void> {
  if (!canPrompt(io)) {
    throw new UsageError(
      'This command asks for confirmation, but there is no terminal.',
      `Pass ${skipFlag} to confirm.`,
    );
  }
  if (!(await io.prompter.confirm(question))) throw new Failure('declined', declinedMessage);
}
