import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findProcessIds } from '../../../runtime/test/orphans.ts';
import type { Random } from '../../../runtime/test/random.ts';
import { findFreePort } from '../support/free-port.ts';
import { createServiceProcess, type ServiceProcess } from '../support/service-process.ts';
import { type BotEventFile, createBotEventFile } from './bot-event-file.ts';
import { writeFixtureBots } from './fixture-bots.ts';
import { type SessionObserver, startSessionObserver } from './observer.ts';
import { createServerKiller, type ServerKiller } from './phase-killer.ts';
import { runScenario, type Scenario, type ScenarioContext, scenarioKinds } from './session-scenario.ts';

declare module 'vitest' {
  interface ProvidedContext {
    kills: number;
    killSeed: number;
  }
}

/** A service with its bots in a temporary directory, five clients, and a `ServerKiller` that kills the server process. */
export type CrashRun = {
  readonly directory: string;
  readonly service: ServiceProcess;
  readonly observer: SessionObserver;
  readonly botEventFile: BotEventFile;
  readonly killer: ServerKiller;
  readonly context: ScenarioContext;
  /** Ids of the sessions that the killer ignores when it waits for a session to reach a given phase. */
  readonly bystanders: Set<string>;
  readonly scenarios: readonly Scenario[];
  /** Starts five clients, each of which runs one session after another. `ended` waits for their last sessions. */
  readonly begin: () => { readonly ended: () => Promise<void> };
  /** Kills the processes that a failed test left running, and removes the temporary directory of the crash run. */
  readonly cleanUp: () => void;
};

const clients = 5;

export async function prepareCrashRun(random: Random): Promise<CrashRun> {
  const directory = mkdtempSync(join(tmpdir(), 'bothost-crash-'));
  // Bots run under their own accounts, which need permission to enter this temporary directory.
  chmodSync(directory, 0o711);
  const botEventFile = createBotEventFile(join(directory, 'bot-events'));
  const agents = writeFixtureBots(join(directory, 'agents'), botEventFile.path);
  const service = createServiceProcess({ directory, agents, port: await findFreePort() });
  await service.start().ready;
  const observer = startSessionObserver(service.dataDirectory, botEventFile);
  const bystanders = new Set<string>();
  const killer = createServerKiller({ service, observer, random, bystanders });
  const { events, afterExit } = killer;
  const context: ScenarioContext = { service, observer, botEventFile, random, events, afterExit };
  const scenarios: Scenario[] = [];

  function begin() {
    let isOver = false;
    const client = async (number: number) => {
      for (let count = 0; !isOver; count += 1) {
        const kind = scenarioKinds[(number + count) % scenarioKinds.length] ?? 'stopped';
        scenarios.push(await runScenario(context, kind, `${number}-${count}-${scenarios.length}`));
        await delay(random.below(60));
      }
    };
    const all = Array.from({ length: clients }, (_, number) => client(number));
    return {
      ended: async () => {
        isOver = true;
        await Promise.all(all);
      },
    };
  }

  return {
    directory,
    service,
    observer,
    botEventFile,
    killer,
    context,
    bystanders,
    scenarios,
    begin,
    cleanUp: () => {
      for (const pid of findProcessIds(directory)) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {}
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
