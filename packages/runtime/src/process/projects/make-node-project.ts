import { dirname, join } from 'node:path';
import { satisfies, validRange } from 'semver';
import { PrepareError } from '../../runtime.ts';
import { TRIAL_ACCOUNT } from '../containment/isolation.ts';
import { programsNamed, type TryAccount, tryProgram } from './interpreter.ts';
import { build, type Making, type MakingContext } from './making.ts';
import { nodeCommands, planNode } from './node-install.ts';
import { findMain, missingMain, readManifest } from './node-project.ts';
import type { Project } from './prepared-project.ts';

/** Installs and builds a Node project as far as it needs that. Rejects with `PrepareError`. */
export async function makeNodeProject(
  context: MakingContext,
  making: Making,
): Promise<Pick<Project, 'main' | 'environment'>> {
  const { directory, output } = making;
  const account = context.isolation.ownAccounts ? TRIAL_ACCOUNT : null;
  const interpreter = await context.interpreter();
  const manifest = readManifest(directory);
  if (manifest.engines.node !== undefined) await requireEngine(interpreter, manifest.engines.node, account);
  const early = findMain(directory, manifest);
  const plan = planNode(directory, making.isServed, manifest, early !== null);
  if (early === null && !plan.builds) throw missingMain(manifest);
  for (const note of plan.notes) output(note);
  if (plan.install !== null || plan.builds) {
    const folder = dirname(interpreter);
    const program = await findTool(plan.tool, folder, context.path, account);
    const commands = nodeCommands(directory, plan, manifest, program === null ? {} : { [plan.tool]: program });
    await build(context, making, folder, [], async (run) => {
      for (const command of commands) await run(command);
    });
  }
  const main = findMain(directory, manifest);
  if (main === null) throw missingMain(manifest);
  return { main, environment: null };
}

async function requireEngine(interpreter: string, range: string, account: TryAccount): Promise<void> {
  if (validRange(range) === null) {
    throw new PrepareError(`"engines" of package.json asks for Node "${range}", which is not a range of versions.`);
  }
  const version =
    interpreter === process.execPath ? process.version : await tryProgram(interpreter, ['--version'], account);
  if (version !== null && satisfies(version, range, { includePrerelease: true })) return;
  throw new PrepareError(
    `"engines" of package.json asks for Node ${range}; bots run on ${version ?? 'an unknown version'} here (${interpreter}). Change the range, or run the service with a Node that fits.`,
  );
}

/** Beside the node that runs bots, else in PATH; null when their accounts can run none. */
async function findTool(name: string, folder: string, path: string, account: TryAccount): Promise<string | null> {
  for (const candidate of new Set([join(folder, name), ...programsNamed([name], path)])) {
    // A script, that looks for its own interpreter.
    const version = await tryProgram(candidate, ['--version'], account, {
      PATH: `${folder}:${path}`,
      HOME: '/nonexistent',
    });
    if (version !== null) return candidate;
  }
  return null;
}
