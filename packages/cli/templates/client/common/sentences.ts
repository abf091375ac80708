import { startUrl } from './config';

/** What the browser's names for trouble with a microphone or a camera mean. */
const deviceTrouble: Readonly<Record<string, string>> = {
  NotAllowedError:
    'The browser does not let this page use the microphone. Allow it beside the address, then try again.',
  NotFoundError: 'No microphone was found. Connect one, then try again.',
  NotReadableError: 'The microphone cannot be used. Does another program have it?',
};

/** Trouble, as a sentence for the person in front of the page. */
export function sentence(error: unknown): string {
  const { name, type, message, error: told } = (error ?? {}) as Record<string, unknown>;
  const device = deviceTrouble[String(name)] ?? deviceTrouble[causes[String(type)] ?? ''];
  if (device !== undefined) return device;
  // The bot speaks of itself, as when a service refuses its key; whatever else fails has a message.
  if (message === undefined && typeof told === 'string') {
    const [line = ''] = told.split('\n');
    return `The bot has trouble: ${line.slice(0, 200)}`;
  }
  const text = typeof error === 'string' ? error : String(message ?? '');
  if (/failed to fetch|networkerror|load failed/i.test(text)) {
    return `The bot cannot be reached at ${startUrl}. Is it running?`;
  }
  if (/call object bundle/i.test(text)) {
    return 'The room cannot be reached: what its vendor loads from c.daily.co does not come.';
  }
  if (/^websocket /.test(text)) return 'The connection to the bot was lost.';
  if (error instanceof SyntaxError) {
    return `What answers at ${startUrl} is no bot. Is the address right?`;
  }
  return text === '' ? 'The bot cannot be reached.' : text;
}

/** Whether it says no more than that the other side closed the connection in good order. */
export function hasLeft(error: unknown): boolean {
  const { message } = (error ?? {}) as Record<string, unknown>;
  return /^websocket connection closed\. Code: 100[01]\b/.test(String(message));
}

/** What the transports call the same trouble. */
const causes: Readonly<Record<string, string>> = {
  permissions: 'NotAllowedError',
  'not-found': 'NotFoundError',
  'in-use': 'NotReadableError',
};
