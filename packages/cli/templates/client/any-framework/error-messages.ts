import { startUrl } from './config';

/** Explanations of the browser's errors for microphones and cameras, by error name. */
const deviceErrors: Readonly<Record<string, string>> = {
  NotAllowedError:
    'Your browser blocks the microphone for this page. Allow it next to the address, then try again.',
  NotFoundError: 'No microphone was found. Connect one, then try again.',
  NotReadableError: 'The microphone is not available. Is another program using it?',
};

/** Maps the transports' names of device errors to the browser's names. */
const deviceErrorNames: Readonly<Record<string, string>> = {
  permissions: 'NotAllowedError',
  'not-found': 'NotFoundError',
  'in-use': 'NotReadableError',
};

/** Explains an error to the person who uses the page. */
export function errorMessage(error: unknown): string {
  const { name, type, message, error: botError } = (error ?? {}) as Record<string, unknown>;
  const deviceError =
    deviceErrors[String(name)] ?? deviceErrors[deviceErrorNames[String(type)] ?? ''];
  if (deviceError !== undefined) return deviceError;
  // An error without a message comes from the bot, for example because a service refused the bot's
  // key.
  if (message === undefined && typeof botError === 'string') {
    const [line = ''] = botError.split('\n');
    return `The bot reports an error: ${line.slice(0, 200)}`;
  }
  const text = typeof error === 'string' ? error : String(message ?? '');
  if (/failed to fetch|networkerror|load failed/i.test(text)) {
    return `The bot cannot be reached at ${startUrl}. Is it running?`;
  }
  if (/call object bundle/i.test(text)) {
    return 'The room cannot be reached: its code could not be loaded from c.daily.co.';
  }
  if (/^websocket /.test(text)) return 'The connection to the bot was lost.';
  if (error instanceof SyntaxError) {
    return `There is no bot at ${startUrl}. Is the address right?`;
  }
  return text === '' ? 'The bot cannot be reached.' : text;
}

/** Returns whether an error only reports that the other side closed the connection normally. */
export function isNormalClose(error: unknown): boolean {
  const { message } = (error ?? {}) as Record<string, unknown>;
  return /^websocket connection closed\. Code: 100[01]\b/.test(String(message));
}
