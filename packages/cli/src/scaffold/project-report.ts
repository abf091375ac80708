import { join } from 'node:path';
import type { PackageManager } from '../config.ts';
import type { Block, Report } from '../output/report.ts';
import { findTransport } from './catalogue/transports.ts';
import { reachedByClient } from './client/client-transports.ts';
import type { Configuration } from './configuration/configuration.ts';
import { planOf } from './configuration/plan.ts';
import { slugOf } from './configuration/project-name.ts';
import { summaryOf } from './configuration/summary.ts';
import type { GuideStep } from './guides/plan-guides.ts';
import type { WriteResult } from './make-project.ts';
import { secretSetOf } from './project/deployment.ts';
import { requiredVariables } from './project/variables.ts';
import { shellWord } from './shell-word.ts';

/** What was created, and the commands that come next. */
export function projectReport(
  configuration: Configuration,
  directory: string,
  result: WriteResult,
  packageManager: PackageManager,
): Report {
  const slug = slugOf(configuration.project_name);
  const notes = missingInClient(configuration);
  const slugRow = slug === configuration.project_name ? [] : [['Agent and package', slug] as const];
  const [project, ...choices] = summaryOf(configuration);
  return {
    json: { directory, written: result.written, guides: states(result.guides), notes, configuration },
    blocks: [
      {
        kind: 'fields',
        fields: [
          [project?.[0] ?? 'Project', { text: configuration.project_name, tone: 'strong' }],
          ...slugRow,
          ...choices,
          ['Directory', directory],
          ['Files written', String(result.written.length)],
        ],
      },
      { kind: 'text', title: 'Next', lines: nextSteps(configuration, directory, packageManager) },
      ...(notes.length === 0 ? [] : [{ kind: 'note', lines: notes } as const]),
      ...keptGuides(result.guides),
    ],
  };
}

/** What was done with the guides, for users who build with a coding agent. */
export function guidesReport(directory: string, result: WriteResult): Report {
  const written = result.written.length === 0 ? 'none: all guides exist already' : result.written.join(', ');
  return {
    json: { directory, written: result.written, guides: states(result.guides) },
    blocks: [
      {
        kind: 'fields',
        fields: [
          ['Directory', directory],
          ['Written', written],
        ],
      },
      {
        kind: 'text',
        title: 'Next',
        lines: [
          'uv tool install "pipecat-ai[cli]"     # the context hub: current documents for your agent',
          'pipecat context-hub install           # takes a few minutes and about 900 MB',
          'Then open your coding agent in the directory and describe the bot that you want. See GETTING_STARTED.md for details.',
        ],
      },
      ...keptGuides(result.guides),
    ],
  };
}

function states(guides: readonly GuideStep[]) {
  return guides.map(({ path, state }) => ({ path, state }));
}

function nextSteps(configuration: Configuration, directory: string, packageManager: PackageManager): readonly string[] {
  const path = (folder: string) => shellWord(join(directory, folder));
  const client = configuration.generate_client
    ? [`cd ${path('client')} && ${packageManager} install && ${packageManager} run dev   # in another terminal`]
    : [];
  const scenarios = `evals/${configuration.mode === 'realtime' ? 'audio' : 'text'}.yaml`;
  const evaluation = configuration.enable_eval
    ? [`cd ${path('server')} && uv run --group evals pipecat eval run ${scenarios}   # in another terminal`]
    : [];
  const plan = planOf(configuration);
  const secrets =
    requiredVariables(plan).length === 0 ? [] : [`botcli cloud secrets set ${secretSetOf(plan)} --file .env`];
  const deploy = configuration.deploy_to_cloud
    ? [...secrets, 'uv lock && botcli cloud deploy               # when it works']
    : [];
  return [
    `cd ${path('server')}`,
    'cp .env.example .env                         # then fill in the keys',
    `uv sync && uv run bot.py${hasTestPage(configuration) ? '                     # then open http://localhost:7860' : ''}`,
    ...client,
    ...evaluation,
    ...(configuration.bot_type === 'telephony' ? ['To connect calls to the bot, follow README.md'] : []),
    ...deploy,
  ];
}

/** Notes about transports that the generated client cannot use. */
function missingInClient(configuration: Configuration): readonly string[] {
  if (!configuration.generate_client) return [];
  return configuration.transports.flatMap((value) =>
    findTransport(value)?.group !== 'web' || reachedByClient(value)
      ? []
      : [
          `The client does not offer ${value}: its Pipecat client package is not published. Use ${value}-client in your own ` +
            'application.',
        ],
  );
}

/** Whether Pipecat's development runner serves a page for one of the transports. */
function hasTestPage({ transports }: Configuration): boolean {
  return ['lightrtc', 'hostedrtc', 'websocket', 'livekit'].some((value) => transports.includes(value));
}

/** Notes about guides that were kept, and how to replace them. */
function keptGuides(guides: readonly GuideStep[]): readonly Block[] {
  const lines = guides.flatMap(({ path, state, found }) => {
    if (state === 'own') return [`${path} is your own and was kept. --overwrite-guide replaces it.`];
    if (state !== 'stale' || found === null) return [];
    const edits = found.edited ? ', was edited since then' : '';
    return [`${path} was written by version ${found.version}${edits} and was kept. --overwrite-guide replaces it.`];
  });
  return lines.length === 0 ? [] : [{ kind: 'note', lines }];
}
