import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { getObjectFields } from '@bothost/contract/json-object';
import type { Cell } from '../output/report.ts';
import { transports } from '../scaffold/catalogue/transports.ts';
import { projectRecordPath } from '../scaffold/project-file.ts';

export type EntryPoints = {
  /**
   * The command that starts a session for clients to connect to, or null if a session cannot be started from the command line.
   */
  readonly start: string | null;
  /**
   * The URL of the dashboard's talk page, where users talk to the bot. Null if the page supports none of the bot's transports.
   */
  readonly talkUrl: string | null;
  readonly fields: readonly (readonly [string, Cell])[];
};

/**
 * Reads the transports of a project that `botcli init` generated. Looks for `.botcli/project.json` in `directory` and, if
 * `directory` is called `server`, also in the parent directory. Returns null for a project without this file: only its code
 * determines the transports.
 */
export async function readProjectTransports(directory: string): Promise<readonly string[] | null> {
  for (const candidate of basename(directory) === 'server' ? [directory, dirname(directory)] : [directory]) {
    const text = await readFile(join(candidate, projectRecordPath), 'utf8').catch(() => null);
    const transports = text === null ? null : parseTransports(text);
    if (transports !== null) return transports;
  }
  return null;
}

function parseTransports(answers: string): readonly string[] | null {
  try {
    const { configuration } = getObjectFields(JSON.parse(answers.replace(/^\uFEFF/, '')));
    const { transports } = getObjectFields(configuration);
    return Array.isArray(transports) && transports.length > 0 ? transports.map(String) : null;
  } catch {
    return null;
  }
}

/**
 * Describes how to talk to the bot. `page` is the URL of the dashboard's talk page. `start` is the command that starts a
 * session, without the option `--transport`. `names` is null if the bot's transports are unknown.
 */
export function describeEntryPoints(names: readonly string[] | null, page: string, start: string): EntryPoints {
  if (names === null) {
    const talk: Cell = `${page} (over WebSocket or WebRTC)`;
    return {
      start,
      talkUrl: page,
      fields: [
        ['Start a session', start],
        ['Talk to the bot', talk],
      ],
    };
  }
  const used = transports.filter(({ value }) => names.includes(value));
  // The last one is WebSocket, which works without ICE servers.
  const transport =
    used.findLast(({ talkPageQuery }) => talkPageQuery !== undefined) ??
    used.find(({ requestedAs }) => requestedAs !== undefined);
  if (transport?.requestedAs === undefined) {
    const connection = `through ${names.join(', ')}; see the README of the project`;
    return { start: null, talkUrl: null, fields: [['Connect', connection]] };
  }
  const talkUrl = transport.talkPageQuery === undefined ? null : `${page}${transport.talkPageQuery}`;
  const line = `${start} --transport ${transport.requestedAs}`;
  return {
    start: line,
    talkUrl,
    fields: [['Start a session', line], ...(talkUrl === null ? [] : [['Talk to the bot', talkUrl] as const])],
  };
}
