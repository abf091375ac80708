import { dirname, join } from 'node:path';
import { satisfies, validRange } from 'semver';
import { PrepareError } from '../../runtime.ts';
import { accessCheckAccount } from '../containment/isolation.ts';
import { type Account, findPrograms, runProgramAs } from './interpreter.ts';
import { createNodeCommands, planNodeInstall } from './node-install.ts';
import { createMissingMainError, findMain, readManifest } from './node-project.ts';
import { type Preparation, type PreparationContext, runBuild } from './preparation.ts';
import type { Project } from './prepared-project.ts';

export async function prepareNodeProject(
  context: PreparationContext,
  preparation: Preparation,
): Promise<Pick<Project, 'main' | 'environment'>> {
  const { directory, output } = preparation;
  const account = context.isolation.ownAccounts ? accessCheckAccount : null;
  const interpreter = await context.interpreter();
  const manifest = readManifest(directory);
  if (manifest.engines.node !== undefined) await requireEngine(interpreter, manifest.engines.node, account);
  const mainBeforeBuild = findMain(directory, manifest);
  const plan = planNodeInstall(directory, preparation.isServed, manifest, mainBeforeBuild !== null);
  if (mainBeforeBuild === null && !plan.builds) throw createMissingMainError(manifest);
  for (const note of plan.notes) output(note);
  if (plan.install !== null || plan.builds) {
    const folder = dirname(interpreter);
    const program = await findTool(plan.tool, folder, context.path, account);
    const commands = createNodeCommands(directory, plan, manifest, program === null ? {} : { [plan.tool]: program });
    await runBuild(context, preparation, folder, [], async (run) => {
      for (const command of commands) await run(command);
    });
  }
  const main = findMain(directory, manifest);
  if (main === null) throw createMissingMainError(manifest);
  return { main, environment: null };
}

async function requireEngine(interpreter: string, range: string, account: Account): Promise<void> {
  if (validRange(range) === null) {
    throw new PrepareError(`"engines" of package.json requires Node "${range}", which is not a version range.`);
  }
  const version =
    interpreter === process.execPath ? process.version : await runProgramAs(interpreter, ['--version'], account);
  if (version !== null && satisfies(version, range, { includePrerelease: true })) return;
  throw new PrepareError(
    `"engines" of package.json requires Node ${range}, but bots run on ${version ?? 'an unknown version'} (${interpreter}). Change the range, or run the service with a matching Node.`,
  );
}

/** Finds a tool beside the `node` that runs bots, else in `PATH`. Null if bots' accounts cannot run the tool. */
async function findTool(name: string, folder: string, path: string, account: Account): Promise<string | null> {
  for (const candidate of new Set([join(folder, name), ...findPrograms([name], path)])) {
    const version = await runProgramAs(candidate, ['--version'], account, {
      PATH: `${folder}:${path}`,
      HOME: '/nonexistent',
    });
    if (version !== null) return candidate;
  }
  return null;
}
