import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Cell } from '../output/report.ts';

/** How a client reaches an agent, as far as that is known. */
export type EntryPoints = {
  /** The line that starts a session which has a way in; null where none is sure to. */
  readonly start: string | null;
  /** The page to talk to it; null for a bot that takes no WebSocket, which the page needs. */
  readonly talkUrl: string | null;
  readonly fields: readonly (readonly [string, Cell])[];
};

/**
 * The transports that `botcli init` gave the project of a folder, which is `server` of the project as a rule; what else lies
 * in a project is none of it. Null for a project of another make: what its bot takes, only its code says.
 */
export async function readTransports(folder: string): Promise<readonly string[] | null> {
  for (const place of basename(folder) === 'server' ? [folder, dirname(folder)] : [folder]) {
    const text = await readFile(join(place, '.botcli/project.json'), 'utf8').catch(() => null);
    const transports = text === null ? null : parseTransports(text);
    if (transports !== null) return transports;
  }
  return null;
}

function parseTransports(answers: string): readonly string[] | null {
  try {
    const { configuration } = JSON.parse(answers) as { configuration?: { transports?: unknown } };
    const transports = configuration?.transports;
    return Array.isArray(transports) && transports.length > 0 ? transports.map(String) : null;
  } catch {
    return null;
  }
}

/** `page`: the service's own page for the agent. `start`: the line of a plain start, which opens no way into a Pipecat bot. */
export function entryPoints(transports: readonly string[] | null, page: string, start: string): EntryPoints {
  if (transports === null) {
    const talk: Cell = `${page} (if the bot supports WebSockets)`;
    return {
      start,
      talkUrl: page,
      fields: [
        ['Start a session', start],
        ['Talk to it', talk],
      ],
    };
  }
  const has = (name: string) => transports.includes(name);
  const talkUrl = has('websocket') ? page : null;
  const transport = has('websocket') ? 'websocket' : has('lightrtc') ? 'webrtc' : null;
  if (transport === null) {
    const reach = `by ${transports.join(', ')}: the README of the project says how`;
    return { start: null, talkUrl, fields: [['Reach it', reach]] };
  }
  const line = `${start} --transport ${transport}`;
  return {
    start: line,
    talkUrl,
    fields: [['Start a session', line], ...(talkUrl === null ? [] : [['Talk to it', talkUrl] as const])],
  };
}
