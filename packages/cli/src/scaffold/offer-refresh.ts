import { canPrompt } from '../io/confirm.ts';
import type { CommandIo } from '../io/io.ts';
import type { CodingAgentGuideSet } from './guides/plan-guides.ts';
import { type ProjectWriteOptions, planProjectGuides } from './make-project.ts';

/**
 * Returns whether `init` can ask questions. Besides a terminal for prompts, standard output must be a terminal: `init` asks
 * nothing if its report goes to a file or a pipe.
 */
export function isInteractive(io: CommandIo): boolean {
  return canPrompt(io) && io.stdout.isTerminal;
}

/**
 * Offers to replace guides for coding agents that an older version of botcli wrote. The default answer is "yes" only if no
 * guide was edited. Without a terminal, keeps the guides.
 */
export async function offerCodingAgentGuideRefresh(
  io: CommandIo,
  writeOptions: ProjectWriteOptions,
  set: CodingAgentGuideSet,
): Promise<ProjectWriteOptions> {
  if (!isInteractive(io)) return writeOptions;
  const stale = planProjectGuides(set, writeOptions).filter(({ state }) => state === 'stale');
  if (stale.length === 0) return writeOptions;
  const edited = stale.filter(({ found }) => found?.edited === true).map(({ path }) => path);
  const names = stale.map(({ path }) => path).join(', ');
  const loss = edited.length === 0 ? '' : ` Your changes to ${edited.join(', ')} would be lost.`;
  const agreed = await io.prompter.confirm(
    `${names}: written by an older version. Replace?${loss}`,
    edited.length === 0,
  );
  return agreed ? { ...writeOptions, refreshGuides: true } : writeOptions;
}
