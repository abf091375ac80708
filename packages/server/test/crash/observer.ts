import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionsTable } from '../../src/store/tables.ts';
import type { BotEventFile } from './bot-event-file.ts';
import { openDirectDatabaseConnection } from './direct-database-connection.ts';
import { determinePhase, determineStartPhaseFromSql, type ObservedPhase, type SessionState } from './session-phases.ts';

export type SessionRecord = Omit<SessionsTable, 'events'> & {
  readonly agent: string;
  readonly instance_id: string | null;
  readonly sample_count: number | null;
};

/** Reads the state of sessions from the database, independently of the server. */
export type SessionObserver = {
  /** Returns the phases of all sessions. Call this while the server is suspended. */
  readonly inspect: (except: ReadonlySet<string>) => Promise<readonly ObservedPhase[]>;
  /** Resolves when the killed server's connections are closed and its open transactions rolled back. */
  readonly settled: () => Promise<void>;
  /** Returns the ids of the sessions by the tag in their request body. */
  readonly byTag: () => Promise<ReadonlyMap<string, readonly string[]>>;
  readonly records: (ids?: readonly string[]) => Promise<readonly SessionRecord[]>;
  readonly instanceIds: () => Promise<readonly string[]>;
  readonly storedSamples: (sessionId: string) => Promise<number>;
  readonly close: () => Promise<void>;
};

export function startSessionObserver(dataDirectory: string, botEventFile: BotEventFile): SessionObserver {
  const { rows, settled, close } = openDirectDatabaseConnection(dataDirectory);

  async function inspect(except: ReadonlySet<string>): Promise<readonly ObservedPhase[]> {
    const open = await rows(`select query from pg_stat_activity
      where xact_start is not null and pid <> pg_backend_pid() and backend_type = 'client backend'`);
    const seen = await rows(`select s.id, s.state, i.id as instance_id, i.state as instance_state
      from sessions s left join instances i on i.session_id = s.id
      where s.state <> 'ended' or i.state <> 'ended'`);
    const entries = botEventFile.entries();
    const entry = (what: string) =>
      new Set(entries.filter((entry) => entry.what === what).map(({ session }) => session));
    const [entered, left] = [entry('entered'), entry('ended')];
    const sessionStates = seen
      .filter(({ id }) => !except.has(id))
      .map(
        (row): SessionState => ({
          sessionId: row.id,
          state: row.state,
          instanceState: row.instance_state,
          begun: row.instance_id !== null && existsSync(join(dataDirectory, 'instances', row.instance_id)),
          entered: entered.has(row.id),
          left: left.has(row.id),
        }),
      );
    const found = [...open.map(({ query }) => determineStartPhaseFromSql(query)), ...sessionStates.map(determinePhase)];
    return found.filter((one) => one !== null);
  }

  async function byTag(): Promise<ReadonlyMap<string, readonly string[]>> {
    const open = await rows(`select id, body::json ->> 'tag' as tag from sessions where body is not null`);
    const found = new Map<string, string[]>();
    for (const { id, tag } of open) found.set(tag, [...(found.get(tag) ?? []), id]);
    return found;
  }

  return {
    inspect,
    settled,
    byTag,
    records: (ids) =>
      rows(
        `select s.*, a.name as agent, i.id as instance_id, m.sample_count
        from sessions s join agents a on a.id = s.agent_id left join instances i on i.session_id = s.id
        left join session_metrics m on m.session_id = s.id
        where $1::uuid[] is null or s.id = any($1)`,
        [ids ?? null],
      ),
    instanceIds: async () => (await rows('select id from instances')).map(({ id }) => id),
    storedSamples: async (sessionId) =>
      (
        await rows(
          `select coalesce(sum(json_array_length(samples)), 0)::int as count from session_samples where session_id = $1`,
          [sessionId],
        )
      )[0].count,
    close,
  };
}
