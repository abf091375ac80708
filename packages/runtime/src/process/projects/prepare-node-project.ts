import { dirname, join } from 'node:path';
import { satisfies, validRange } from 'semver';
import { ProjectPreparationError } from '../../runtime.ts';
import { unixAccountForAccessChecks } from '../containment/isolation.ts';
import { findProgramsInPath, runProgramAsAccount, type UnixAccount } from './interpreter.ts';
import { createNodeCommands, planNodeInstall } from './node-install.ts';
import { createMissingMainFileError, findMainFile, readManifest } from './node-project.ts';
import { type PreparationContext, type ProjectPreparation, runBuild } from './preparation.ts';
import type { Project } from './prepared-project.ts';

export async function prepareNodeProject(
  context: PreparationContext,
  preparation: ProjectPreparation,
): Promise<Pick<Project, 'main' | 'environment'>> {
  const { directory, output } = preparation;
  const account = context.isolation.ownAccounts ? unixAccountForAccessChecks : null;
  const interpreter = await context.interpreter();
  const manifest = readManifest(directory);
  if (manifest.engines.node !== undefined) await requireEngine(interpreter, manifest.engines.node, account);
  const mainBeforeBuild = findMainFile(directory, manifest);
  const plan = planNodeInstall(directory, preparation.isServed, manifest, mainBeforeBuild !== null);
  if (mainBeforeBuild === null && !plan.builds) throw createMissingMainFileError(manifest);
  for (const note of plan.notes) output(note);
  if (plan.install !== null || plan.builds) {
    const folder = dirname(interpreter);
    const program = await findTool(plan.tool, folder, context.path, account);
    const commands = createNodeCommands(directory, plan, manifest, program === null ? {} : { [plan.tool]: program });
    await runBuild(context, preparation, folder, [], async (run) => {
      for (const command of commands) await run(command);
    });
  }
  const main = findMainFile(directory, manifest);
  if (main === null) throw createMissingMainFileError(manifest);
  return { main, environment: null };
}

async function requireEngine(interpreter: string, range: string, account: UnixAccount): Promise<void> {
  if (validRange(range) === null) {
    throw new ProjectPreparationError(
      `"engines" of package.json requires Node "${range}", which is not a version range.`,
    );
  }
  const version =
    interpreter === process.execPath ? process.version : await runProgramAsAccount(interpreter, ['--version'], account);
  if (version !== null && satisfies(version, range, { includePrerelease: true })) return;
  throw new ProjectPreparationError(
    `"engines" of package.json requires Node ${range}, but bots run on ${version ?? 'an unknown version'} (${interpreter}). Change the range, or run the service with a matching Node.`,
  );
}

/** Finds a tool beside the `node` that runs bots, else in `PATH`. Null if bots' accounts cannot run the tool. */
async function findTool(name: string, folder: string, path: string, account: UnixAccount): Promise<string | null> {
  for (const candidate of new Set([join(folder, name), ...findProgramsInPath([name], path)])) {
    const version = await runProgramAsAccount(candidate, ['--version'], account, {
      PATH: `${folder}:${path}`,
      HOME: '/nonexistent',
    });
    if (version !== null) return candidate;
  }
  return null;
}
