import { join } from 'node:path';
import { quoteShellWord } from '@bothost/contract/shell-word';
import type { PackageManager } from '../config.ts';
import { createFields } from '../output/fields.ts';
import type { CommandReport, CommandReportBlock } from '../output/report.ts';
import { findTransport } from './catalogue/transports.ts';
import type { ProjectConfiguration } from './configuration/configuration.ts';
import { createProjectPlan } from './configuration/plan.ts';
import { toSlug } from './configuration/project-name.ts';
import { summarizeConfiguration } from './configuration/summary.ts';
import type { PlannedGuideAction } from './guides/plan-guides.ts';
import type { ProjectWriteResult } from './make-project.ts';
import { formatSecretSetName } from './project/deployment.ts';
import { listRequiredEnvironmentVariables } from './project/variables.ts';

export function createProjectReport(
  configuration: ProjectConfiguration,
  directory: string,
  result: ProjectWriteResult,
  packageManager: PackageManager,
): CommandReport {
  const slug = toSlug(configuration.project_name);
  const notes = missingInClient(configuration);
  const slugRow = slug === configuration.project_name ? [] : [['Agent and package', slug] as const];
  const [project, ...choices] = summarizeConfiguration(configuration);
  return {
    json: { directory, written: result.written, guides: states(result.guides), notes, configuration },
    blocks: [
      createFields([
        [project?.[0] ?? 'Project', { text: configuration.project_name, tone: 'strong' }],
        ...slugRow,
        ...choices,
        ['Directory', directory],
        ['Files written', String(result.written.length)],
      ]),
      { kind: 'text', title: 'Next', lines: nextSteps(configuration, directory, packageManager) },
      ...(notes.length === 0 ? [] : [{ kind: 'note', lines: notes } as const]),
      ...keptGuides(result.guides),
    ],
  };
}

export function createCodingAgentGuidesReport(directory: string, result: ProjectWriteResult): CommandReport {
  const written = result.written.length === 0 ? 'none: all guides exist already' : result.written.join(', ');
  return {
    json: { directory, written: result.written, guides: states(result.guides) },
    blocks: [
      createFields([
        ['Directory', directory],
        ['Written', written],
      ]),
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

function states(guides: readonly PlannedGuideAction[]) {
  return guides.map(({ path, state }) => ({ path, state }));
}

function nextSteps(
  configuration: ProjectConfiguration,
  directory: string,
  packageManager: PackageManager,
): readonly string[] {
  const path = (folder: string) => quoteShellWord(join(directory, folder));
  const client = configuration.generate_client
    ? [`cd ${path('client')} && ${packageManager} install && ${packageManager} run dev   # in another terminal`]
    : [];
  const scenarios = `evals/${configuration.mode === 'realtime' ? 'audio' : 'text'}.yaml`;
  const evaluation = configuration.enable_eval
    ? [`cd ${path('server')} && uv run --group evals pipecat eval run ${scenarios}   # in another terminal`]
    : [];
  const plan = createProjectPlan(configuration);
  const required = listRequiredEnvironmentVariables(plan);
  const secrets = required.length === 0 ? [] : [`botcli cloud secrets set ${formatSecretSetName(plan)} --file .env`];
  const deploy = configuration.deploy_to_cloud
    ? [...secrets, 'uv lock && botcli cloud deploy               # when it works']
    : [];
  const settings = required.length === 0 ? 'all settings are optional' : 'then fill in the keys';
  return [
    ...plan.services.flatMap(({ service }) => service.downloads?.command ?? []),
    `cd ${path('server')}`,
    `cp .env.example .env                         # ${settings}`,
    `uv sync && uv run bot.py${hasTestPage(configuration) ? '                     # then open http://localhost:7860' : ''}`,
    ...client,
    ...evaluation,
    ...(configuration.bot_type === 'telephony' ? ['To connect calls to the bot, follow README.md'] : []),
    ...deploy,
  ];
}

function missingInClient(configuration: ProjectConfiguration): readonly string[] {
  if (!configuration.generate_client) return [];
  return createProjectPlan(configuration)
    .transports.filter(({ group, client }) => group === 'web' && client === undefined)
    .map(
      ({ value }) =>
        `The client does not offer ${value}: its Pipecat client package is not published. Use ${value}-client in your own ` +
        'application.',
    );
}

/** Whether the project has a transport for which Pipecat's development runner serves a page. */
function hasTestPage({ transports }: ProjectConfiguration): boolean {
  return transports.some((value) => findTransport(value)?.group === 'web');
}

function keptGuides(guides: readonly PlannedGuideAction[]): readonly CommandReportBlock[] {
  const lines = guides.flatMap(({ path, state, found }) => {
    if (state === 'own') return [`${path} is your own and was kept. --overwrite-guide replaces it.`];
    if (state !== 'stale' || found === null) return [];
    const edits = found.edited ? ', was edited since then' : '';
    return [`${path} was written by version ${found.version}${edits} and was kept. --overwrite-guide replaces it.`];
  });
  return lines.length === 0 ? [] : [{ kind: 'note', lines }];
}
