import type { World } from '../world/world.ts';
import { colorsFor } from './colors.ts';
import type { OutputMode } from './output-mode.ts';
import { printable } from './printable.ts';
import type { Block } from './report.ts';

/** What is said on standard error while a command works; data never goes this way. */
export type Talk = {
  /** A line that stays. */
  readonly say: (text: string) => void;
  /** Blocks as a report has them, for people to read before they are asked. */
  readonly show: (...blocks: readonly Block[]) => Promise<void>;
  /** The line of what goes on now, each in place of the one before; null takes it away. Only on a terminal. */
  readonly status: (text: string | null) => void;
  /** Whether a status is seen at all, so that nobody has to make one in vain. */
  readonly isLive: boolean;
};

const takeLineAway = '\r\u001b[2K';

export function createTalk(world: Pick<World, 'stderr' | 'environment'>, mode: OutputMode): Talk {
  const { stderr, environment } = world;
  const isLive = mode === 'rich' && stderr.terminal && !environment.dumb;
  let shown = '';
  const clear = () => {
    if (shown !== '') stderr.write(takeLineAway);
    shown = '';
  };
  return {
    isLive,
    say: (text) => {
      const standing = shown;
      clear();
      stderr.write(`${text}\n`);
      if (standing !== '') {
        stderr.write(standing);
        shown = standing;
      }
    },
    show: async (...blocks) => {
      clear();
      const { renderPlain, renderRich } = await import('./render.ts');
      const paint = { colors: await colorsFor(world, stderr), columns: stderr.columns };
      for (const block of blocks) {
        if (mode === 'rich') stderr.write(`${renderRich(block, paint)}\n`);
        else stderr.write(plain(block, renderPlain));
      }
    },
    status: (text) => {
      if (!isLive) return;
      clear();
      if (text === null) return;
      // A line that wraps could not be taken away again.
      shown = text.slice(0, Math.max(1, stderr.columns - 1));
      stderr.write(shown);
    },
  };
}

/** Here, unlike in a report, what is no data has its place among the rest. */
function plain(block: Block, render: (block: Block) => string): string {
  if (block.kind === 'note') return block.lines.map((line) => `${printable(line)}\n`).join('');
  return block.kind === 'table' && block.rows.length === 0 ? `${block.empty}\n` : render(block);
}
