import { Failure, UsageError } from '../failure.ts';
import type { Io } from './io.ts';

/** Whether prompts can be shown: answers are read from standard input, questions are written to standard error. */
export function canAsk(io: Io): boolean {
  return io.stdin.isTerminal && io.stderr.isTerminal;
}

/**
 * Asks for confirmation. Without a terminal it throws a `UsageError` that names the flag, and never assumes yes. The answer
 * "no" throws a `Failure`.
 */
export async function confirm(io: Io, question: string, skipFlag: string): Promise<void> {
  if (!canAsk(io)) {
    throw new UsageError(
      'This command asks for confirmation, but there is no terminal.',
      `Pass ${skipFlag} to confirm.`,
    );
  }
  if (!(await io.prompter.confirm(question))) throw new Failure('declined', 'Nothing was changed.');
}
