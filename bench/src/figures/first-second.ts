import { writeAgentDirectory } from '../agent-directory.ts';
import { type BenchmarkedService, withService } from '../benchmarked-service.ts';
import { deployProject } from '../deploy-project.ts';
import type { Benchmark } from '../figure.ts';
import { startStandaloneBot } from '../first-second/by-hand.ts';
import { measureCallBurst, measureSequentialCalls, measureWarmPoolRefill } from '../first-second/calls.ts';
import { measureColdStarts, measureConcurrentColdStarts, printStartPhases } from '../first-second/cold-starts.ts';
import { createAgentFromBuild, measureFirstCallAfterDeploy } from '../first-second/first-call.ts';
import { drainPool, waitForForkServer } from '../first-second/instances.ts';
import { measureManyInstances } from '../first-second/many-instances.ts';
import { measureConversationMemory, measureIdleMemory } from '../first-second/memory.ts';
import { forked, spawned, type VoiceBenchContext } from '../first-second/voice-bench.ts';
import { createBotEnvironmentVariables, findInterpreter } from '../first-second/voice-bot.ts';
import { startWebCaller } from '../first-second/web-caller.ts';
import { packageIndexEnvironmentVariables, startBenchmarkProgram } from '../program.ts';

/**
 * Compares a generated voice bot in the service with the same bot started by hand: how long a start takes, and how long a
 * caller waits. The bot connects to local stand-ins for the speech and language model vendors. Prints each figure as soon as it
 * is measured.
 */
export const callStartBench: Benchmark = {
  name: 'first-second',
  hasOwnTable: true,
  run: async ({ quick, log, report }) => {
    const vendors = await startBenchmarkProgram('stand-in-vendors', []);
    const standIns = new URL(vendors.origin).host;
    try {
      await withService({ agents: [], environment: packageIndexEnvironmentVariables }, async (service) => {
        const directory = await deployAgents(service, standIns);
        const interpreter = await findInterpreter(service.dataDirectory);
        const byHandOptions = { interpreter, directory, variables: createBotEnvironmentVariables(directory, standIns) };
        const byHand = await startStandaloneBot(byHandOptions);
        const webCaller = startWebCaller(interpreter);
        const runs = quick ? 2 : 10;
        const bench: VoiceBenchContext = { service, log, runs, byHand, byHandOptions, webCaller, report };
        try {
          await warmUp(bench);
          await measureColdStarts(bench);
          await measureConcurrentColdStarts(bench);
          await printStartPhases(bench);
          await measureSequentialCalls(bench);
          await measureFirstCallAfterDeploy(bench);
          await measureCallBurst(bench);
          await measureIdleMemory(bench);
          await measureWarmPoolRefill(bench);
          await measureConversationMemory(bench);
          await measureManyInstances(bench, quick ? 10 : 50);
        } finally {
          await webCaller.stop();
          await byHand.stop();
        }
      });
    } finally {
      await vendors.stop();
    }
  },
};
/** Deploys the bot as two agents with the same build, so that its packages are installed once. Returns the bot's directory. */
async function deployAgents(service: BenchmarkedService, standIns: string): Promise<string> {
  const agent = { name: forked, bot: { voice: { standIns } }, minAgents: 0, maxAgents: 50 } as const;
  const directory = await writeAgentDirectory(service.agentsDirectory, agent);
  await deployProject(service, directory);
  await createAgentFromBuild(service, spawned, { fork: false });
  return directory;
}

/**
 * Makes one call by WebRTC and one by phone, which load the files of the bot into the page cache. Then waits for a new fork
 * server (the process that imports the bot once and forks its instances), because the service replaces it when calls import
 * further modules.
 */
async function warmUp(bench: VoiceBenchContext): Promise<void> {
  const { service } = bench;
  await drainPool(service, spawned);
  await drainPool(service, forked);
  const forkServer = await waitForForkServer(service, forked);
  await measureSequentialCalls({ ...bench, runs: 1, report: () => undefined });
  await waitForForkServer(service, forked, forkServer);
  await drainPool(service, forked);
}
