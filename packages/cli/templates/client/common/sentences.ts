import { startUrl } from './config';

/** What the browser's error names for microphones and cameras mean. */
const deviceTrouble: Readonly<Record<string, string>> = {
  NotAllowedError:
    'Your browser blocks the microphone for this page. Allow it next to the address, then try again.',
  NotFoundError: 'No microphone was found. Connect one, then try again.',
  NotReadableError: 'The microphone is not available. Is another program using it?',
};

/** An error, as a sentence for the person who uses the page. */
export function sentence(error: unknown): string {
  const { name, type, message, error: told } = (error ?? {}) as Record<string, unknown>;
  const device = deviceTrouble[String(name)] ?? deviceTrouble[causes[String(type)] ?? ''];
  if (device !== undefined) return device;
  // The bot's own errors have no message, for example when a service refuses its key; all others have one.
  if (message === undefined && typeof told === 'string') {
    const [line = ''] = told.split('\n');
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

/** Whether an error only says that the other side closed the connection normally. */
export function hasLeft(error: unknown): boolean {
  const { message } = (error ?? {}) as Record<string, unknown>;
  return /^websocket connection closed\. Code: 100[01]\b/.test(String(message));
}

/** The transports' names for the same errors. */
const causes: Readonly<Record<string, string>> = {
  permissions: 'NotAllowedError',
  'not-found': 'NotFoundError',
  'in-use': 'NotReadableError',
};
