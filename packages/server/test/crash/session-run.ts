import { join } from 'node:path';
import type { Random } from '../../../runtime/test/random.ts';
import { type BotEvent, openBotEventFile } from './bot-event-file.ts';
import { type CrashService, openCrashService } from './crash-service.ts';
import { botEventFileName, writeFixtureBots } from './fixture-bots.ts';
import {
  type BotKillPeriod,
  findCrossSessionViolations,
  findViolations,
  type Scenario,
  type SessionRecord,
} from './invariants.ts';
import { createPhaseKiller, type PhaseKiller } from './phase-killer.ts';
import { findSessionPhases, type SessionPhase, sessionSearches } from './session-phases.ts';

/** A service with the bots of the session scenarios, and a killer of its server. Reads the database without the server. */
export type SessionRun = {
  readonly service: CrashService;
  readonly random: Random;
  readonly killer: PhaseKiller<SessionPhase>;
  readonly readBotEvents: () => readonly BotEvent[];
  /** Ids of the sessions that the killer ignores when it waits for a session to reach a given phase. */
  readonly bystanders: Set<string>;
  readonly botKills: BotKillPeriod[];
  readonly records: (ids?: readonly string[]) => Promise<readonly SessionRecord[]>;
  readonly sessionsWithTag: (tag: string) => Promise<readonly string[]>;
  /** Returns the violated invariants. */
  readonly judge: (scenarios: readonly Scenario[]) => Promise<readonly string[]>;
};

/** The event file of the bots is in the directory of the service. */
export async function openSessionRun(
  random: Random,
  open: () => Promise<CrashService> = () => openCrashService({ writeAgents: writeFixtureBots }),
): Promise<SessionRun> {
  const service = await open();
  const readBotEvents = openBotEventFile(join(service.directory, botEventFileName));
  const bystanders = new Set<string>();
  const botKills: BotKillPeriod[] = [];
  const findPhases = () => findSessionPhases(service, readBotEvents(), bystanders);
  const records: SessionRun['records'] = (ids) =>
    service.database().rows(
      `select s.*, a.name as agent, i.id as instance_id, m.sample_count, h.runtime
      from sessions s join agents a on a.id = s.agent_id left join instances i on i.session_id = s.id
      left join hosts h on h.id = i.host_id
      left join session_metrics m on m.session_id = s.id
      where $1::uuid[] is null or s.id = any($1)`,
      [ids ?? null],
    );

  async function judge(scenarios: readonly Scenario[]): Promise<readonly string[]> {
    const all = await records();
    const entries = readBotEvents();
    const processes = service.processes.map((server) => ({
      startedAt: server.startedAt,
      exitedAt: server.exitedAt(),
    }));
    const problems = scenarios.flatMap((scenario) => {
      const { sessionId, kind, tag } = scenario;
      const record = all.find(({ id }) => id === sessionId);
      const mine = entries.filter(({ session }) => session === sessionId);
      const violated = sessionId === null ? [] : findViolations(scenario, record, mine, processes, botKills);
      return [...scenario.problems, ...violated].map((problem) => `${kind} ${tag} ${sessionId}: ${problem}`);
    });
    return [...problems, ...findCrossSessionViolations(scenarios, all, entries)];
  }

  return {
    service,
    random,
    killer: createPhaseKiller(service, random, sessionSearches, findPhases),
    readBotEvents,
    bystanders,
    botKills,
    records,
    sessionsWithTag: async (tag) =>
      (await service.database().rows(`select id from sessions where body::json ->> 'tag' = $1`, [tag])).map(
        ({ id }) => id,
      ),
    judge,
  };
}
