import { resolve as absolute, basename } from 'node:path';
import type { CommandContext } from '../command-line/context.ts';
import { Failure, InterruptedError, UsageError } from '../failure.ts';
import type { CommandIo } from '../io/io.ts';
import type { CommandReport } from '../output/report.ts';
import { version } from '../version.ts';
import type { ProjectConfiguration } from './configuration/configuration.ts';
import { type ProjectOptions, projectFields, readConfigFile } from './configuration/fields.ts';
import { createProjectPlan } from './configuration/plan.ts';
import { readConfigText } from './configuration/read-config.ts';
import { resolveConfiguration } from './configuration/resolve.ts';
import type { FollowUpStepsRunner } from './init-interactively.ts';
import { makeProject, type ProjectWriteOptions } from './make-project.ts';
import { offerCodingAgentGuideRefresh } from './offer-refresh.ts';
import { detectPackageManager } from './package-manager.ts';
import { createProjectReport } from './project-report.ts';
import { localQuickstartPackagesMegabytes, localQuickstartProject, quickstartProject } from './quickstart.ts';

export type InitOptionValues = Readonly<Record<string, unknown>> & {
  readonly 'target-dir': string | undefined;
  readonly config: string | undefined;
  readonly 'dry-run': boolean;
  readonly 'list-options': boolean;
  readonly 'overwrite-guide': boolean;
  readonly force: boolean;
  readonly git: boolean;
  readonly install: boolean;
  readonly local: boolean;
  readonly yes: boolean;
};

/** Runs `botcli init` with options, with a config file, as the quickstart, or with questions. */
export async function init(
  context: Pick<CommandContext, 'io' | 'notify'>,
  values: InitOptionValues,
): Promise<CommandReport> {
  try {
    return await runInit(context, values);
  } catch (error) {
    // `result` says what was done before the user pressed Ctrl-C. It is null if the project was not written.
    if (error instanceof InterruptedError && error.result === null) throw new InterruptedError('Nothing was written.');
    throw error;
  }
}

async function runInit(
  { io, notify }: Pick<CommandContext, 'io' | 'notify'>,
  values: InitOptionValues,
): Promise<CommandReport> {
  if (values['list-options']) {
    const { listInitOptionValues } = await import('./configuration/list-options.ts');
    return jsonDocument(listInitOptionValues());
  }
  const options = projectOptions(values);
  const target = values['target-dir'];
  const writeOptionsFor = (directory: string): ProjectWriteOptions => ({
    directory,
    version,
    overwriteGuides: values['overwrite-guide'],
    refreshGuides: false,
    force: values.force,
    signal: io.signal,
    say: notify,
  });
  if (target === 'quickstart') return initQuickstart({ io, notify }, values, options, writeOptionsFor);
  if (values.local) {
    throw new UsageError(
      'The option --local belongs to the quickstart.',
      'Run "botcli init quickstart --local", or choose local services, such as --stt moonshine_stt.',
    );
  }
  const isDescribed = Object.keys(options).length > 0 || values.config !== undefined || values['dry-run'];
  if (isDescribed) {
    const directory = absolute(io.directory, target ?? '.');
    const configuration = resolveOptions(io, options, values.config, basename(directory));
    if (values['dry-run']) return jsonDocument(configuration);
    return scaffold(io, values, configuration, writeOptionsFor(directory));
  }
  const { initInteractively } = await import('./init-interactively.ts');
  return initInteractively(io, target ?? null, writeOptionsFor, followUpFor(io, values));
}

function followUpFor(io: CommandIo, { git, install }: InitOptionValues): FollowUpStepsRunner {
  return async (directory, configuration) => {
    if (!git && !install) return;
    const { runFollowUpSteps } = await import('./follow-up.ts');
    await runFollowUpSteps(io, directory, { git, install }, configuration);
  };
}

async function initQuickstart(
  context: Pick<CommandContext, 'io' | 'notify'>,
  values: InitOptionValues,
  options: ProjectOptions,
  writeOptionsFor: (directory: string) => ProjectWriteOptions,
): Promise<CommandReport> {
  const refused = [
    ...Object.keys(options).map((name) => (isField(name) ? `--${projectFields[name].option}` : name)),
    ...(values.config === undefined ? [] : ['--config']),
  ];
  if (refused.length > 0) {
    throw new UsageError(
      `"init quickstart" has fixed choices and does not accept ${refused.join(', ')}.`,
      'To create a project in a directory named "quickstart", write ./quickstart.',
    );
  }
  const { io } = context;
  const project = values.local ? localQuickstartProject : quickstartProject;
  const { configuration } = resolveConfiguration(project.options, project.name);
  if (configuration === null) throw new Error('The quickstart configuration is invalid.');
  if (values['dry-run']) return jsonDocument(configuration);
  if (values.local) {
    const { confirmDownloads } = await import('./confirm-downloads.ts');
    const packagesMegabytes = localQuickstartPackagesMegabytes;
    await confirmDownloads(context, createProjectPlan(configuration), { packagesMegabytes, yes: values.yes });
  }
  const writeOptions = writeOptionsFor(absolute(io.directory, project.name));
  return scaffold(io, values, configuration, await offerCodingAgentGuideRefresh(io, writeOptions, 'scaffold'));
}

async function scaffold(
  io: CommandIo,
  values: InitOptionValues,
  configuration: ProjectConfiguration,
  writeOptions: ProjectWriteOptions,
): Promise<CommandReport> {
  const { directory } = writeOptions;
  const result = await makeProject(configuration, writeOptions);
  await followUpFor(io, values)(directory, configuration);
  return createProjectReport(configuration, directory, result, detectPackageManager(directory, io.environment));
}

function projectOptions(values: InitOptionValues): ProjectOptions {
  const entries = Object.entries(projectFields).flatMap(([name, { option, type }]) => {
    const value = values[option];
    const isAbsent = value === undefined || (type === 'texts' && Array.isArray(value) && value.length === 0);
    return isAbsent ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

function isField(name: string): name is keyof typeof projectFields {
  return Object.hasOwn(projectFields, name);
}

/** Merges the config file and the overriding options. Throws a `Failure` that lists all problems. */
function resolveOptions(
  io: CommandIo,
  options: ProjectOptions,
  file: string | undefined,
  defaultName: string,
): ProjectConfiguration {
  const fromFile =
    file === undefined ? { options: {}, issues: [] } : readConfigFile(readConfigText(io.directory, file), options);
  const resolved = resolveConfiguration({ ...fromFile.options, ...options }, defaultName);
  const invalidKeys = new Set(fromFile.issues.map(({ path }) => path));
  const issues = [
    ...fromFile.issues.map(({ path, message }) => ({ path: path === '' ? (file ?? '') : path, message })),
    // If a setting in the config file is invalid, do not also report its option as missing.
    ...resolved.issues.filter(
      ({ path }) => isField(path) && !projectFields[path].keys.some((key) => invalidKeys.has(key)),
    ),
  ];
  if (issues.length > 0 || resolved.configuration === null) {
    throw new Failure(
      'invalid-configuration',
      'The options do not describe a project. Nothing was written.',
      'To list all values, run: botcli init --list-options',
      { issues },
    );
  }
  return resolved.configuration;
}

function jsonDocument(json: unknown): CommandReport {
  return { json, blocks: [{ kind: 'document', text: `${JSON.stringify(json, null, 2)}\n` }] };
}
