import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { statfs, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createApiClient } from '@bothost/contract';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { testUnless } from '../../../runtime/test/skip-with-reason.ts';
import { createDirectoryLayout } from '../../src/store/embedded/layout.ts';
import { createDatabaseSocketAddress } from '../../src/store/embedded/socket-address.ts';
import { type CrashService, openCrashService } from '../crash/crash-service.ts';
import { writeBot } from '../support/bots.ts';
import { insertSecondOrganization } from '../support/second-organization.ts';
import {
  findMissedGoals,
  formatAttackReport,
  measureAttackImpact,
  type QuietAndAttackedSessions,
} from './attack-table.ts';
import type { AttackingOrganization, AttackResults } from './attacker.ts';
import { hostileArchives, hostileBotSource, hostileBots, hostileBuilds } from './hostile-projects.ts';
import {
  beginSession,
  checkBotResponds,
  checkSessionRecordAndLog,
  runVictimSessions,
  stopSession,
  type VictimSession,
  type VictimSessionResult,
  warmInstanceCount,
  writeVictimBot,
} from './victim.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The length of the attack in seconds. */
    attackSeconds: number;
  }
}

const run = promisify(execFile);
const attackerModule = fileURLToPath(new URL('attacker.ts', import.meta.url));
const seconds = inject('attackSeconds');
/** Length of an attack with enough warm starts to judge their p99: ten minutes, which is the default. */
const isJudged = seconds >= 600;
/** Periods with and without attack alternate, because the load of the machine may change. */
const roundCount = isJudged ? 3 : 1;
/** `TMPFS_MAGIC` of statfs(2). With `TMPDIR=/dev/shm`, the database is in memory. */
const tmpfsType = 0x0102_1994;
/** Time limits for polling are long, because the machine may be busy with other test suites. */
const patience = { timeout: 180_000, interval: 100 };

describe(`an organization that attacks with builds, bots, archives and requests for ${seconds} s`, () => {
  let service: CrashService;
  let attacker: ChildProcess | undefined;
  let results: AttackResults = {};
  let sessions: readonly VictimSessionResult[] = [];
  let rounds: readonly QuietAndAttackedSessions[] = [];
  let restartMs = Number.NaN;
  let isInMemory = false;

  beforeAll(
    async () => {
      service = await openCrashService({
        writeAgents: (directory) => [writeVictimBot(directory)],
        environment: {
          // Set low limits, so that even a short attack reaches them often.
          BOTHOST_BUILD_TIMEOUT: '5',
          BOTHOST_BUILD_MEMORY_MB: '512',
          BOTHOST_BUILD_DISK_MB: '128',
          BOTHOST_INSTANCE_DISK_MB: '128',
          BOTHOST_LOG_TOTAL_MB: '128',
        },
      });
      readRestartMs();
      isInMemory = (await statfs(createDirectoryLayout(service.dataDirectory).data)).type === tmpfsType;
      // Give the measuring thread real-time priority, so that it never waits for a processor: a real client runs on another
      // machine. With `--reset-on-fork`, the service, which this process starts again below, does not inherit the priority.
      if (process.geteuid?.() === 0) {
        await run('chrt', ['--reset-on-fork', '--rr', '--pid', '1', String(process.pid)]);
      }
      const attack = await openAttacker();
      const { client } = service;
      const attackerClient = createApiClient({ origin: service.url, key: attack.privateKey });
      const waitForCalm = () =>
        vi.waitFor(async () => {
          const parrot = await client.getAgent({ params: { agentName: 'parrot' } });
          const hostile = await attackerClient.getAgent({ params: { agentName: 'hostile' } });
          const { builds } = await attackerClient.listBuilds({ query: { limit: 10 } });
          const state = {
            'warm instances': parrot.idleInstanceCount,
            'sessions of the attacker': hostile.activeSessionCount,
            'open builds': builds.filter(({ status }) => status === 'pending' || status === 'building').length,
          };
          const calm = { 'warm instances': warmInstanceCount, 'sessions of the attacker': 0, 'open builds': 0 };
          expect(state).toEqual(calm);
        }, patience);
      await waitForCalm();

      const veteran = await beginSession(service, 'SESSION_STOPPED');
      const periods: { quiet: VictimSession[]; attacked: VictimSession[] }[] = [];
      const periodMs = (seconds * 1000) / roundCount;
      for (let round = 1; round <= roundCount; round += 1) {
        const quiet = await runVictimSessions(service, periodMs);
        attacker = await startAttacker({ ...attack, used: usedProjects() });
        periods.push({ quiet, attacked: await runVictimSessions(service, periodMs) });
        if (round === roundCount) break;
        await endAttack(attacker);
        await waitForCalm();
      }

      await service.restart();
      restartMs = readRestartMs();
      await checkBotResponds(service, veteran.id);
      await stopSession(service, veteran.id);
      const after = await runVictimSessions(service, 1000);
      if (attacker !== undefined) await endAttack(attacker);

      const check = async (all: readonly VictimSession[]) => {
        const checked: VictimSessionResult[] = [];
        for (const session of all) checked.push(await checkWhenEnded(session));
        return checked;
      };
      const checkWhenEnded = async (session: VictimSession) => {
        const params = { agentName: 'parrot', sessionId: session.id };
        const hasEnded = async () =>
          expect(await client.getSession({ params })).toMatchObject({ endedAt: expect.any(String) });
        await vi.waitFor(hasEnded, patience);
        return checkSessionRecordAndLog(client, session);
      };
      rounds = [];
      for (const { quiet, attacked } of periods) {
        rounds = [...rounds, { quiet: await check(quiet), attacked: await check(attacked) }];
      }
      const rest = await check([veteran, ...after]);
      sessions = [...rounds.flatMap(({ quiet, attacked }) => [...quiet, ...attacked]), ...rest];
      process.stdout.write(`${formatAttackReport({ rounds, restartMs, results, isInMemory })}\n`);
    },
    900_000 + seconds * 4_000,
  );
  afterAll(async () => {
    attacker?.kill('SIGKILL');
    await service.remove();
  });

  /** Returns the milliseconds from the latest start of the service until it was ready. */
  function readRestartMs(): number {
    const started = service.current();
    const readyAt = started.readyAt();
    if (readyAt === null)
      throw new Error(`The service exited before it was ready: ${readFileSync(service.logFile, 'utf8')}`);
    return readyAt - started.startedAt;
  }

  /** Creates the organization that attacks, and its agent. */
  async function openAttacker(): Promise<Omit<AttackingOrganization, 'used'>> {
    const { address, release } = createDatabaseSocketAddress(createDirectoryLayout(service.dataDirectory).data);
    const organization = await insertSecondOrganization({ database: { address } }, 'attacker');
    const bot = await writeBot('hostile', { alone: true, prelude: hostileBotSource, minAgents: 2, maxAgents: 16 });
    await organization.serve(bot.path);
    const { privateKey, publicKey } = organization;
    const client = createApiClient({ origin: service.url, key: privateKey });
    const params = { agentName: 'hostile' };
    await vi.waitFor(async () => expect(await client.getAgent({ params })).toMatchObject({ ready: true }), patience);
    await organization.close();
    release();
    await bot.remove();
    return { url: service.url, privateKey, publicKey };
  }

  /**
   * Starts the attacker with the lowest priority, because a real attacker would not use the processors of the machine on which
   * the service runs. Resolves when the attack has begun, which takes many seconds on a busy machine.
   */
  async function startAttacker(attack: AttackingOrganization): Promise<ChildProcess> {
    const code = "import { runnerImport } from 'vite'; await runnerImport(process.argv[1]);";
    const program = [process.execPath, '--input-type=module', '-e', code, attackerModule, JSON.stringify(attack)];
    const attacker = spawn('nice', ['-n', '19', ...program], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    // Linux schedules each process session as a group (autogroup, sched(7)), so the niceness of the process alone has no effect
    // on processes of other sessions.
    const autogroup = `/proc/${attacker.pid}/autogroup`;
    if (existsSync(autogroup)) await writeFile(autogroup, '19');
    await once(attacker.stdout, 'readable');
    return attacker;
  }

  /** Stops the attacker and adds its results to those of earlier attackers. */
  async function endAttack(attacker: ChildProcess): Promise<void> {
    if (attacker.stdout === null) throw new Error('The attacker has no output.');
    attacker.kill('SIGTERM');
    const output = await text(attacker.stdout);
    if (output.trim() === '') throw new Error('The attacker exited without results.');
    const latest: AttackResults = JSON.parse(output);
    const lines = new Set([...Object.keys(results), ...Object.keys(latest)]);
    results = Object.fromEntries([...lines].map((line) => [line, (results[line] ?? 0) + (latest[line] ?? 0)]));
  }

  function usedProjects(): AttackingOrganization['used'] {
    return { build: countOf('build '), archive: countOf('archive ') };
  }

  /** A short attack does not reach every project, so only the four kinds must be used. */
  function findUnusedAttacks(): readonly string[] {
    const named = (kind: string, projects: object) =>
      isJudged ? Object.keys(projects).map((name) => `${kind} ${name}: `) : [`${kind} `];
    const prefixes = [
      ...named('build', hostileBuilds),
      ...named('archive', hostileArchives),
      ...named('start of bot', hostileBots),
      'slow bodies: ',
    ];
    return prefixes.filter((prefix) => countOf(prefix) === 0);
  }

  function countOf(prefix: string): number {
    const lines = Object.entries(results).filter(([line]) => line.startsWith(prefix));
    return lines.reduce((sum, [, times]) => sum + times, 0);
  }

  it('gets no response with status 500', () => {
    expect(Object.keys(results).filter((line) => /: (500|internal)$/.test(line))).toEqual([]);
  });

  it('uses every kind of attack', () => {
    expect(findUnusedAttacks()).toEqual([]);
  });

  it('measures warm starts of another organization with and without the attack', () => {
    expect(measureAttackImpact(rounds).filter(({ quietMs, attackedMs }) => !(quietMs > 0 && attackedMs > 0))).toEqual(
      [],
    );
  });

  testUnless(
    isJudged ? null : 'not applicable: only an attack of 600 s judges the times',
    'keeps warm starts of another organization within their goals',
    () => {
      expect(findMissedGoals(measureAttackImpact(rounds), isInMemory)).toEqual([]);
    },
  );

  it('does not delay a restart of the service by more than ten seconds', () => {
    expect(restartMs).toBeLessThan(10_000);
  });

  it("never makes another organization's session end with a wrong status or lose log lines", () => {
    // Compare strings instead of arrays, so that the CI summary shows the problems.
    expect(sessions.flatMap(({ problems }) => problems).join('\n')).toBe('');
  });

  it('leaves no orphans after an orderly stop', () => service.stopInOrder());
});
