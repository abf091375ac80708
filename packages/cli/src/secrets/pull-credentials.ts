import { isBasicAuthCredentials, maxSecretValueBytes } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { Failure, UsageError } from '../failure.ts';
import { canPrompt } from '../io/confirm.ts';
import { decodeUtf8 } from './decode-utf8.ts';
import { readDockerConfig } from './docker-config.ts';
import { readFileBytes, readStandardInput } from './read-bytes.ts';

export type RegistryCredentialSource = {
  readonly text: string | undefined;
  readonly isEncoded: boolean;
  readonly username: string | undefined;
  readonly passwordStdin: boolean;
  readonly dockerConfig: string | undefined;
};

const maxConfigBytes = 1_048_576;

/**
 * Throws a `UsageError` if the options contradict each other, for example if they name several sources of credentials, or if
 * botcli must prompt for credentials without a terminal.
 */
export function requireOneCredentialSource({ io }: Pick<CommandContext, 'io'>, source: RegistryCredentialSource): void {
  const { text, isEncoded, username, passwordStdin, dockerConfig } = source;
  const sourceCount = [text, username, dockerConfig].filter((one) => one !== undefined).length;
  if (sourceCount > 1) {
    throw new UsageError('Use only one of: the credentials as an argument, --username, --from-docker-config.');
  }
  if (passwordStdin && username === undefined) throw new UsageError('--password-stdin needs --username.');
  if (isEncoded && (username !== undefined || dockerConfig !== undefined)) {
    throw new UsageError('--no-encode cannot be combined with --username or --from-docker-config.');
  }
  if (text === undefined && dockerConfig === undefined && !passwordStdin && !canPrompt(io)) {
    throw new UsageError(
      'No credentials were given, and there is no terminal to prompt for them.',
      'Pass the credentials with --username and --password-stdin, or with --from-docker-config.',
    );
  }
}

/** Reads the credentials for a registry and returns them in Base64. No message contains credentials. */
export async function readRegistryCredentials(
  context: CommandContext,
  source: RegistryCredentialSource,
  host: string,
): Promise<string> {
  const { text, isEncoded, username, dockerConfig } = source;
  if (dockerConfig !== undefined) {
    const content = decodeText(await readFileBytes(context, dockerConfig, maxConfigBytes), dockerConfig);
    return readDockerConfig(content.replace(/^\ufeff/, ''), dockerConfig, host);
  }
  if (username !== undefined) {
    if (username.includes(':')) throw credentialFailure('A user name cannot contain a colon.');
    return encode(context, `${username}:${await readPassword(context, source, username, host)}`);
  }
  if (text !== undefined) {
    context.warn(
      "credentials in arguments stay in the shell's history and are visible in the process list; use the prompt or " +
        '--password-stdin instead',
    );
    // U+FFFD means that the argument was not valid UTF-8, because Node replaces invalid bytes with this character.
    if (text.includes('\ufffd')) throw credentialFailure('The argument is not valid UTF-8. Use --password-stdin.');
  }
  const form = isEncoded ? 'username:password in Base64' : 'username:password';
  const whole = text ?? (await context.io.prompter.secret(`Credentials for ${host} (${form})`));
  return isEncoded ? requireEncoded(whole) : encode(context, whole);
}

async function readPassword(
  context: CommandContext,
  { passwordStdin }: RegistryCredentialSource,
  username: string,
  host: string,
): Promise<string> {
  const password = passwordStdin
    ? decodeText(await readStandardInput(context, maxSecretValueBytes), 'standard input').replace(/\r?\n$/, '')
    : await context.io.prompter.secret(`Password of ${username} at ${host}`);
  if (password === '') throw credentialFailure('The password is empty.');
  return password;
}

function decodeText(bytes: Uint8Array, source: string): string {
  const read = decodeUtf8(bytes, source);
  if ('problems' in read) throw credentialFailure(`${source} is not valid UTF-8.`);
  return read.text;
}

function encode({ warn }: Pick<CommandContext, 'warn'>, text: string): string {
  if (/\p{Cc}/u.test(text)) {
    throw credentialFailure('The credentials contain a control character, such as a line break.');
  }
  if (!/^[^:]+:/.test(text)) {
    if (isBasicAuthCredentials(text)) {
      throw credentialFailure(
        'The credentials are not in the form username:password; they appear to be encoded already.',
        'Pass --no-encode for encoded credentials.',
      );
    }
    throw credentialFailure('The credentials must be username:password; the first colon ends the user name.');
  }
  if (isBasicAuthCredentials(text.slice(text.indexOf(':') + 1))) {
    warn('the password looks like encoded credentials; pass them without a user name, with --no-encode');
  }
  return requireSize(Buffer.from(text, 'utf8').toString('base64'));
}

function requireEncoded(text: string): string {
  if (isBasicAuthCredentials(text)) return requireSize(text);
  throw credentialFailure(
    'The credentials are not username:password in strict Base64.',
    text.includes(':') ? 'Omit --no-encode for credentials in the form username:password.' : null,
  );
}

function requireSize(encoded: string): string {
  if (encoded.length <= maxSecretValueBytes) return encoded;
  throw credentialFailure(`The credentials are longer than ${maxSecretValueBytes} bytes in Base64.`);
}

function credentialFailure(message: string, hint: string | null = null): Failure {
  return new Failure('credentials-refused', `Invalid credentials. ${message}`, hint);
}
