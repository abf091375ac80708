import type { CommandContext } from '../command-line/context.ts';
import { requireConfirmation } from '../io/confirm.ts';
import { formatMegabytes } from './catalogue/megabytes.ts';
import type { ProjectPlan } from './configuration/plan.ts';

/**
 * Says what a bot with local models downloads, and how large it is. Then asks whether to create the project, unless `yes` is
 * true. Call it before anything is written.
 */
export async function confirmDownloads(
  { io, notify }: Pick<CommandContext, 'io' | 'notify'>,
  { services }: Pick<ProjectPlan, 'services'>,
  { packagesMegabytes, yes }: { readonly packagesMegabytes: number; readonly yes: boolean },
): Promise<void> {
  const models = services.flatMap(({ service: { label, downloads }, vendor }) =>
    downloads === undefined
      ? []
      : [
          {
            what: label,
            megabytes: downloads.megabytes ?? 0,
            when:
              downloads.command === undefined
                ? 'when the bot first starts'
                : `with "${downloads.command}" (install it from ${vendor.site})`,
          },
        ],
  );
  const downloads = [{ what: 'Python packages', megabytes: packagesMegabytes, when: 'with "uv sync"' }, ...models];
  const total = downloads.reduce((sum, { megabytes }) => sum + megabytes, 0);
  const width = Math.max(...downloads.map(({ what }) => what.length));
  notify(
    `This bot needs no keys, because its models run on your machine. It downloads ${formatMegabytes(total)}, once:`,
  );
  for (const { what, megabytes, when } of downloads)
    notify(`  ${what.padEnd(width)}  ${formatMegabytes(megabytes).padStart(6)}  ${when}`);
  if (!yes) await requireConfirmation(io, 'Create the project?', '--yes', 'Nothing was written.');
}
