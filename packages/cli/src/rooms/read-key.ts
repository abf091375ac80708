import { Failure, UsageError } from '../failure.ts';
import { canPrompt } from '../io/confirm.ts';
import type { CommandIo } from '../io/io.ts';

/** The key of a provider of rooms, and, if requested, the secret with which the provider signs announcements of calls. */
type ProviderSecrets = { readonly apiKey: string; readonly dialinSecret?: string };

/**
 * Reads a key, and a second secret if `hasDialinSecret`, from hidden prompts or from the lines of standard input. They are not
 * accepted as arguments, because other users of the machine can see the arguments of a process.
 */
export async function readProviderSecrets(io: CommandIo, hasDialinSecret: boolean): Promise<ProviderSecrets> {
  const questions = ['API key of Daily', ...(hasDialinSecret ? ['Secret with which Daily signs calls'] : [])];
  const lines = canPrompt(io) ? await prompt(io, questions) : (await io.stdin.readText()).split(/\r?\n/);
  const [apiKey = '', dialinSecret = ''] = lines.map((line) => line.trim());
  if (apiKey === '' || (hasDialinSecret && dialinSecret === '')) {
    if (canPrompt(io)) throw new Failure('declined', 'No key was given. Nothing was changed.');
    throw new UsageError(
      'Standard input must have the key in its first line, and with --dialin-secret the secret in its second line.',
      'botcli cloud rooms connect daily < FILE',
    );
  }
  return hasDialinSecret ? { apiKey, dialinSecret } : { apiKey };
}

async function prompt(io: CommandIo, questions: readonly string[]): Promise<string[]> {
  const answers: string[] = [];
  for (const question of questions) answers.push(await io.prompter.secret(question));
  return answers;
}
