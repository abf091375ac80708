import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import type { Random } from '../support/random.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';
import { type BotDiary, openBotDiary } from './bot-diary.ts';
import { writeFixtureBots } from './fixture-bots.ts';
import { createKiller, type Killer } from './killer.ts';
import { type Observer, openObserver } from './observer.ts';
import { pidsOf } from './orphans.ts';
import { type Drive, type DriveContext, driveSession, kinds } from './session-scenario.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** How often the server is killed. */
    kills: number;
    /** What the random decisions of a run come from. */
    killSeed: number;
  }
}

/** A service with its bots in a directory of its own, five clients that use it, and whoever kills it. */
export type KillRun = {
  readonly directory: string;
  readonly service: ServiceProcess;
  readonly observer: Observer;
  readonly diary: BotDiary;
  readonly killer: Killer;
  readonly context: DriveContext;
  /** Sessions of this kind say nothing of a phase. */
  readonly bystanders: Set<string>;
  readonly drives: readonly Drive[];
  /** Five clients begin, each with one session after the other; `ended` lets them finish what they have. */
  readonly begin: () => { readonly ended: () => Promise<void> };
  /** Ends what a failed test has left, and removes the directory. */
  readonly clear: () => void;
};

const clients = 5;

/** Starts the service for the first time. */
export async function openKillRun(random: Random): Promise<KillRun> {
  const directory = mkdtempSync(join(tmpdir(), 'bothost-kill-'));
  // Bots have accounts of their own and must pass through.
  chmodSync(directory, 0o711);
  const diary = openBotDiary(join(directory, 'diary'));
  const agents = writeFixtureBots(join(directory, 'agents'), diary.path);
  const service = serviceProcess({ directory, agents, port: await freePort() });
  await service.start().ready;
  const observer = openObserver(service.dataDirectory, diary);
  const bystanders = new Set<string>();
  const killer = createKiller({ service, observer, random, bystanders });
  const { events, afterDeath } = killer;
  const context: DriveContext = { service, observer, diary, random, events, afterDeath };
  const drives: Drive[] = [];

  function begin() {
    let isOver = false;
    const client = async (number: number) => {
      for (let count = 0; !isOver; count += 1) {
        const kind = kinds[(number + count) % kinds.length] ?? 'stopped';
        drives.push(await driveSession(context, kind, `${number}-${count}-${drives.length}`));
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
    diary,
    killer,
    context,
    bystanders,
    drives,
    begin,
    clear: () => {
      for (const pid of pidsOf(directory)) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has just ended.
        }
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
