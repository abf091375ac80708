import type { ResourceLimits } from '../../runtime.ts';
import type { Isolation } from '../containment/isolation.ts';
import type { RemovalContext } from '../instances/remove-instance.ts';
import { buildVariables } from './build-variables.ts';
import type { BuildCommand, Builder, BuilderOptions } from './builder.ts';
import { withBuilder } from './builder.ts';
import { handOver } from './copy-project.ts';
import type { Kept } from './kept-projects.ts';
import { createMask } from './mask.ts';
import { type RunOptions, runCommand } from './run-command.ts';
import { sealTree } from './seal.ts';
import type { Shim } from './shim.ts';

/** What making a project needs of the driver. */
export type MakingContext = RemovalContext & {
  readonly kept: Kept;
  readonly preparingDirectory: string;
  readonly isolation: Isolation;
  /** What each command may use. */
  readonly limits: ResourceLimits;
  /** Variables that the operator lets through to builds. */
  readonly passed: Readonly<Record<string, string>>;
  readonly path: string;
  readonly language: string | undefined;
  readonly timeZone: string | undefined;
  readonly bootId: string;
  readonly now: () => Date;
  /** A `node` that accounts other than our own can run. */
  readonly interpreter: () => Promise<string>;
  readonly shim: () => Promise<Shim>;
  readonly open: RunOptions['open'];
};

/** One project that is being made, in its final place. */
export type Making = {
  readonly id: string;
  readonly owner: string;
  readonly gid: number | null;
  readonly directory: string;
  /** Whether the operator serves the directory, so that it is taken as it is where it can be. */
  readonly isServed: boolean;
  readonly output: (line: string) => void;
  readonly signal: AbortSignal;
};

/** Runs commands for a project; they are over, with all that they started, when it resolves. */
export type Run = (command: BuildCommand) => Promise<void>;

/**
 * Lets the owner's account build in some trees: they are its own meanwhile, and nobody's to write to after it. The project
 * is one of them; `also` names others.
 */
export function build(
  context: MakingContext,
  making: Making,
  folder: string | null,
  also: readonly string[],
  work: (run: Run, builder: Builder) => Promise<void>,
): Promise<void> {
  const { gid } = making;
  const options: BuilderOptions = { ...context, cachesDirectory: context.kept.cachesDirectory };
  const mask = createMask(context.passed);
  const trees = [making.directory, ...also];
  return withBuilder(options, making.owner, gid, async (builder) => {
    const run: Run = (command) =>
      runCommand({
        ...context,
        builder,
        projectId: making.id,
        command,
        environment: buildVariables({ ...context, builder, folder, variables: command.variables }),
        output: making.output,
        mask,
        signal: making.signal,
      });
    const uid = builder.account?.uid ?? null;
    if (uid !== null && gid !== null) for (const tree of trees) await handOver(tree, uid, gid);
    await work(run, builder);
    if (uid !== null && gid !== null)
      for (const tree of trees) await sealTree(tree, { uid, gid, signal: making.signal });
  });
}
