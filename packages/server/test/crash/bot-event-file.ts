import { chmodSync, closeSync, openSync, readSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

/**
 * A file outside the service to which bots append the events of their sessions. Tests compare the service's records with the
 * file. Killing the server cannot stop the bots from writing.
 */
const BotEvent = z.object({
  /**
   * `entered`: the handler of a session was called. `ended`: the bot sent its response, its WebSocket was closed, or the bot is
   * about to crash.
   */
  what: z.enum(['entered', 'ended']),
  session: z.string(),
  instance: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
});
export type BotEvent = z.infer<typeof BotEvent>;

/** Creates an empty event file that all accounts may write, because each bot runs under its own account. */
export function createBotEventFile(path: string): void {
  writeFileSync(path, '');
  chmodSync(path, 0o666);
}

/** Returns a function that reads all events so far. Each call reads only what bots have appended since the last call. */
export function openBotEventFile(path: string): () => readonly BotEvent[] {
  const known: BotEvent[] = [];
  const buffer = Buffer.alloc(65_536);
  let offset = 0;
  let rest = '';
  return () => {
    const file = openSync(path, 'r');
    try {
      for (let read = 1; read > 0; offset += read) {
        read = readSync(file, buffer, 0, buffer.length, offset);
        rest += buffer.toString('latin1', 0, read);
      }
    } finally {
      closeSync(file);
    }
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) known.push(BotEvent.parse(JSON.parse(line)));
    return known;
  };
}
