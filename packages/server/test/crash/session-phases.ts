import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BotEvent } from './bot-event-file.ts';
import type { CrashService } from './crash-service.ts';

/** The phases of a session. The suite kills the server during each phase. */
export type SessionPhase = keyof typeof sessionSearches;

/** How to search for a session in each phase. The phases with the fewest chances of a kill come first. */
export const sessionSearches = {
  insert: { event: 'asking', firstMs: 5, stepMs: 1, inspections: 12 },
  claim: { event: 'asking', firstMs: 6, stepMs: 1, inspections: 12 },
  spawn: { event: 'asking', firstMs: 120, stepMs: 15, inspections: 8 },
  dispatch: { event: 'asking', firstMs: 200, stepMs: 6, inspections: 20 },
  live: { event: null, firstMs: 600, stepMs: 60, inspections: 8 },
  ending: { event: 'ending', firstMs: 20, stepMs: 10, inspections: 10 },
} as const;

/** Returns the phases of all sessions except `bystanders`. Call this while the server is suspended. */
export async function findSessionPhases(
  { database, dataDirectory }: CrashService,
  botEvents: readonly BotEvent[],
  bystanders: ReadonlySet<string>,
): Promise<ReadonlySet<SessionPhase>> {
  const open = await database().rows(`select query from pg_stat_activity
    where xact_start is not null and pid <> pg_backend_pid() and backend_type = 'client backend'`);
  const sessions = await database().rows(`select s.id, s.state, i.id as instance_id, i.state as instance_state
    from sessions s left join instances i on i.session_id = s.id
    where s.state <> 'ended' or i.state <> 'ended'`);
  const ended = new Set(botEvents.flatMap(({ what, session }) => (what === 'ended' ? session : [])));
  const phases = sessions
    .filter(({ id }) => !bystanders.has(id))
    .map(({ id, state, instance_id, instance_state }) => {
      switch (state) {
        case 'waiting':
          return null;
        case 'starting':
          if (instance_state === 'ready') return 'dispatch';
          // The runtime creates the directory when it begins to start the instance.
          return ['instances', 'docker/instances', 'kubernetes/instances'].some((directory) =>
            existsSync(join(dataDirectory, directory, instance_id ?? 'none')),
          )
            ? 'spawn'
            : 'claim';
        case 'live':
          return ended.has(id) ? 'ending' : 'live';
        default:
          return 'ending';
      }
    });
  return new Set([...open.map(({ query }) => determineStartPhase(query)), ...phases].filter((phase) => phase !== null));
}

/**
 * Returns the phase of a session start, given the last SQL statement of its open transaction. A start request inserts the
 * session and claims an instance in one statement. For a WebSocket session, the connection of the client claims the instance in
 * a separate statement.
 */
function determineStartPhase(statement: string): SessionPhase | null {
  if (/^(\/\* prepared: insert-and-claim \*\/|insert into sessions)/.test(statement)) return 'insert';
  return statement.startsWith('/* prepared: claim-instance */') ? 'claim' : null;
}
