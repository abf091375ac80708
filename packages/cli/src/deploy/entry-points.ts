import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Cell } from '../output/report.ts';

/** How clients connect to an agent, as far as this is known. */
export type EntryPoints = {
  /** The command that starts a session that clients can connect to; null if none is known. */
  readonly start: string | null;
  /** The talk page; null for a bot without the WebSocket transport, which the page needs. */
  readonly talkUrl: string | null;
  readonly fields: readonly (readonly [string, Cell])[];
};

/**
 * The transports of a project that `botcli init` generated, whose bot is in its folder `server`. Null for other projects:
 * only their code determines the transports.
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

/** `page`: URL of the talk page. `start`: the command for a start without a transport, which a Pipecat bot does not support. */
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
    const reach = `by ${transports.join(', ')}; see the README of the project`;
    return { start: null, talkUrl, fields: [['Reach it', reach]] };
  }
  const line = `${start} --transport ${transport}`;
  return {
    start: line,
    talkUrl,
    fields: [['Start a session', line], ...(talkUrl === null ? [] : [['Talk to it', talkUrl] as const])],
  };
}
