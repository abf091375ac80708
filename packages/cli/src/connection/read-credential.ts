import { Failure, UsageError } from '../failure.ts';
import { canPrompt } from '../io/confirm.ts';
import type { CommandIo } from '../io/io.ts';
import type { ValueWithSource } from './settings.ts';

/** Reads a credential from standard input, because other users of the machine can see the arguments of a process. */
export async function readPipedCredential(io: CommandIo): Promise<ValueWithSource> {
  const text = (await io.stdin.readText()).trim();
  if (text === '') throw new UsageError('--with-token reads the key from standard input, which is empty.');
  return { value: text, source: 'standard input' };
}

/** Prompts for a personal access token or private key without echoing the input. @throws UsageError without a terminal */
export async function promptForCredential(io: CommandIo): Promise<ValueWithSource> {
  if (!canPrompt(io)) {
    throw new UsageError(
      'There is no terminal to prompt for a token.',
      'Pass the token on standard input: botcli cloud auth use-pat --with-token < FILE',
    );
  }
  const typed = (await io.prompter.secret('Personal access token or private key')).trim();
  if (typed === '') throw new Failure('declined', 'No token was given. Nothing was changed.');
  return { value: typed, source: 'the prompt' };
}

/**
 * Reads a credential of a vendor, such as the auth token of a phone carrier: from a hidden prompt on a terminal, otherwise from
 * standard input.
 *
 * @throws UsageError if standard input is empty
 */
export async function readVendorCredential(io: CommandIo, name: string): Promise<string> {
  const typed = (canPrompt(io) ? await io.prompter.secret(name) : await io.stdin.readText()).trim();
  if (typed !== '') return typed;
  if (canPrompt(io)) throw new Failure('declined', `No ${name} was given. Nothing was changed.`);
  throw new UsageError(`There is no terminal to prompt for the ${name}, and standard input is empty.`);
}
