import { type Client, createClient, inspectKey } from '@bothost/contract';
import { Failure } from '../failure.ts';
import type { Io } from '../io/io.ts';
import { version } from '../version.ts';
import type { SourcedValue } from './settings.ts';

/** How long the service may take to answer, in seconds: no operation waits for a bot. */
export const responseTimeoutSeconds = 30;

/** A client of the service; requests end with Ctrl-C and after `answerSeconds`. */
export function connect(io: Io, origin: string, key: string, organization?: string): Client {
  return createClient({
    origin,
    key,
    ...(organization === undefined ? {} : { organization }),
    userAgent: `botcli/${version}`,
    fetch: (input, init) =>
      io.fetch(input, {
        ...init,
        signal: AbortSignal.any([
          io.signal,
          AbortSignal.timeout(responseTimeoutSeconds * 1_000),
          ...(init?.signal ? [init.signal] : []),
        ]),
      }),
  });
}

const missingKeyHints = {
  private:
    'Start a service here with `npm start` (its first start writes a profile with keys), log in to another with ' +
    '`botcli cloud auth login`, or set BOTCLI_TOKEN.',
  public:
    'Create one and save it in the profile with `botcli cloud keys create NAME --kind public --default`, or set ' +
    'BOTCLI_PUBLIC_KEY.',
} as const;

/** The key to send, or a `Failure` that says what to do. Never puts a character of it into a message. */
export function usableKey(kind: 'private' | 'public', key: SourcedValue | null, warn: (text: string) => void): string {
  if (key === null) throw new Failure('key-missing', `There is no ${kind} key.`, missingKeyHints[kind]);
  // fetch would say it with the key in its message.
  if (!/^[\x21-\x7e]+$/.test(key.value)) {
    throw new Failure(
      'key-malformed',
      `The key from ${key.source} contains characters that a key cannot have.`,
      'Copy it again.',
    );
  }
  const found = inspectKey(key.value);
  if (found.kind !== null && (found.kind === 'public') !== (kind === 'public')) {
    throw new Failure(
      'key-of-wrong-kind',
      `The key from ${key.source} is a ${found.kind} key; this command needs a ${kind} key.`,
    );
  }
  if (found.verdict === 'mistyped') {
    warn(`the key from ${key.source} looks mistyped: its checksum is wrong. Trying it anyway.`);
  }
  return key.value;
}
