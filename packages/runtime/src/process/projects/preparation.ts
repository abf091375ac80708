import type { BotProjectSource, BuildOutputHandler, ResourceLimits } from '../../runtime.ts';
import type { IsolationSettings } from '../containment/isolation.ts';
import type { RemovalContext } from '../instances/remove-instance.ts';
import { createBuildEnvironment } from './build-variables.ts';
import type { BuildCommand, Builder, BuilderOptions } from './builder.ts';
import { runWithBuilderAccount } from './builder.ts';
import { chownTree } from './copy-project.ts';
import { createBuildOutputMask } from './mask-build-output.ts';
import type { ProjectStore } from './project-store.ts';
import { protectDirectoryTree } from './protect-directory-tree.ts';
import type { PythonShim } from './python-shim.ts';
import { type BuildCommandRunOptions, runBuildCommand } from './run-build-command.ts';
import type { UvFinder } from './uv.ts';

export type PreparationContext = RemovalContext & {
  readonly store: ProjectStore;
  readonly preparingDirectory: string;
  readonly isolation: IsolationSettings;
  readonly limits: ResourceLimits;
  readonly passed: Readonly<Record<string, string>>;
  readonly path: string;
  readonly language: string | undefined;
  readonly timeZone: string | undefined;
  readonly bootId: string;
  readonly now: () => Date;
  readonly interpreter: () => Promise<string>;
  readonly shim: () => Promise<PythonShim>;
  readonly uv: UvFinder;
  readonly cacheLimitBytes: number;
  readonly open: BuildCommandRunOptions['open'];
};

export type ProjectSpec = { readonly id: string; readonly source: BotProjectSource };

/** A project that is being prepared, in its final directory. */
export type ProjectPreparation = {
  readonly id: string;
  readonly owner: string;
  readonly gid: number | null;
  readonly directory: string;
  /** Whether the operator serves the directory, which may already contain dependencies and build output. */
  readonly isServed: boolean;
  readonly output: BuildOutputHandler;
  /** Counts a new directory outside the project against the disk limit of the build. */
  readonly addDirectory: (path: string) => void;
  readonly signal: AbortSignal;
};

/** Runs a command. Resolves when the command and all processes that it started have ended. */
export type BuildCommandRunner = (command: BuildCommand) => Promise<void>;

/** Runs `work` while the build's account owns the project and `also`. After it has succeeded, only root can write there. */
export function runBuild(
  context: PreparationContext,
  preparation: ProjectPreparation,
  folder: string | null,
  also: readonly string[],
  work: (run: BuildCommandRunner, builder: Builder) => Promise<void>,
): Promise<void> {
  const { gid } = preparation;
  const options: BuilderOptions = { ...context, cachesDirectory: context.store.cachesDirectory };
  const mask = createBuildOutputMask(context.passed);
  const trees = [preparation.directory, ...also];
  return runWithBuilderAccount(options, preparation.owner, gid, async (builder) => {
    const run: BuildCommandRunner = (command) =>
      runBuildCommand({
        ...context,
        builder,
        projectId: preparation.id,
        command,
        environment: createBuildEnvironment({ ...context, builder, folder, variables: command.variables }),
        output: preparation.output,
        mask,
        signal: preparation.signal,
      });
    const uid = builder.account?.uid ?? null;
    if (uid !== null && gid !== null) for (const tree of trees) await chownTree(tree, uid, gid);
    await work(run, builder);
    if (uid !== null && gid !== null)
      for (const tree of trees) await protectDirectoryTree(tree, { uid, gid, signal: preparation.signal });
  });
}
