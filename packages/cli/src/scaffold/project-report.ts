import { join } from 'node:path';
import type { PackageManager } from '../config.ts';
import type { Block, Report } from '../output/report.ts';
import { findTransport } from './catalogue/transports.ts';
import { reachedByClient } from './client/client-transports.ts';
import type { Configuration } from './configuration/configuration.ts';
import { planOf } from './configuration/plan.ts';
import { slugOf } from './configuration/project-name.ts';
import type { GuideStep } from './guides/plan-guides.ts';
import type { Made } from './make-project.ts';
import { secretSetOf } from './project/deployment.ts';
import { requiredVariables } from './project/variables.ts';
import { shellWord } from './shell-word.ts';

/** What was made, and what to do next. */
export function projectReport(
  configuration: Configuration,
  directory: string,
  made: Made,
  packageManager: PackageManager,
): Report {
  const slug = slugOf(configuration.project_name);
  const notes = leftOutOfClient(configuration);
  const called = slug === configuration.project_name ? [] : [['Agent and package', slug] as const];
  return {
    json: { directory, written: made.written, guides: states(made.guides), notes, configuration },
    blocks: [
      {
        kind: 'fields',
        fields: [
          ['Project', { text: configuration.project_name, tone: 'strong' }],
          ...called,
          ['Directory', directory],
          ['Files written', String(made.written.length)],
        ],
      },
      { kind: 'text', title: 'Next', lines: nextSteps(configuration, directory, packageManager) },
      ...(notes.length === 0 ? [] : [{ kind: 'note', lines: notes } as const]),
      ...keptGuides(made.guides),
    ],
  };
}

/** What became of the guides, for those who build with a coding agent. */
export function guidesReport(directory: string, made: Made): Report {
  const written = made.written.length === 0 ? 'none: all guides exist already' : made.written.join(', ');
  return {
    json: { directory, written: made.written, guides: states(made.guides) },
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
      ...keptGuides(made.guides),
    ],
  };
}

function states(guides: readonly GuideStep[]) {
  return guides.map(({ path, state }) => ({ path, state }));
}

function nextSteps(configuration: Configuration, directory: string, packageManager: PackageManager): readonly string[] {
  const place = (folder: string) => shellWord(join(directory, folder));
  const client = configuration.generate_client
    ? [`cd ${place('client')} && ${packageManager} install && ${packageManager} run dev   # in another terminal`]
    : [];
  const scenarios = `evals/${configuration.mode === 'realtime' ? 'audio' : 'text'}.yaml`;
  const evaluation = configuration.enable_eval
    ? [`cd ${place('server')} && uv run --group evals pipecat eval run ${scenarios}   # in another terminal`]
    : [];
  const plan = planOf(configuration);
  const secrets =
    requiredVariables(plan).length === 0 ? [] : [`botcli cloud secrets set ${secretSetOf(plan)} --file .env`];
  const deploy = configuration.deploy_to_cloud
    ? [...secrets, 'uv lock && botcli cloud deploy               # when it works']
    : [];
  return [
    `cd ${place('server')}`,
    'cp .env.example .env                         # then fill it in',
    `uv sync && uv run bot.py${isTriedInBrowser(configuration) ? '                     # then open http://localhost:7860' : ''}`,
    ...client,
    ...evaluation,
    ...(configuration.bot_type === 'telephony' ? ['To connect calls to the bot, follow README.md'] : []),
    ...deploy,
  ];
}

/** The transports by which the bot is reached and its generated client is not. */
function leftOutOfClient(configuration: Configuration): readonly string[] {
  if (!configuration.generate_client) return [];
  return configuration.transports.flatMap((value) =>
    findTransport(value)?.group !== 'web' || reachedByClient(value)
      ? []
      : [
          `The client does not offer ${value}: Pipecat’s client package for it is not published. Your own application ` +
            `can reach the bot with ${value}-client.`,
        ],
  );
}

/** The runner brings a page for these. */
function isTriedInBrowser({ transports }: Configuration): boolean {
  return ['lightrtc', 'hostedrtc', 'websocket', 'livekit'].some((value) => transports.includes(value));
}

/** Which guides were left alone, and how to have them anew. */
function keptGuides(guides: readonly GuideStep[]): readonly Block[] {
  const lines = guides.flatMap(({ path, state, found }) => {
    if (state === 'own') return [`${path} is your own and was kept. --overwrite-guide replaces it.`];
    if (state !== 'stale' || found === null) return [];
    const edits = found.edited ? ', edited since,' : '';
    return [`${path} was written by version ${found.version}${edits} and was kept. --overwrite-guide replaces it.`];
  });
  return lines.length === 0 ? [] : [{ kind: 'note', lines }];
}
