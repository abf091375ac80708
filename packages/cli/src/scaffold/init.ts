import { resolve as absolute, basename } from 'node:path';
import type { Context } from '../command-line/context.ts';
import { Failure, Interrupted, UsageError } from '../failure.ts';
import type { Io } from '../io/io.ts';
import type { Report } from '../output/report.ts';
import { version } from '../version.ts';
import type { Configuration } from './configuration/configuration.ts';
import { fields, type ProjectOptions, readConfigFile } from './configuration/fields.ts';
import { readConfigText } from './configuration/read-config.ts';
import { resolve } from './configuration/resolve.ts';
import type { RunFollowUp } from './init-interactively.ts';
import { makeProject, type WriteOptions } from './make-project.ts';
import { offerRefresh } from './offer-refresh.ts';
import { packageManagerFor } from './package-manager.ts';
import { projectReport } from './project-report.ts';
import { quickstart } from './quickstart.ts';

/** The command line of `init`, by option name. */
export type InitValues = Readonly<Record<string, unknown>> & {
  readonly 'target-dir': string | undefined;
  readonly config: string | undefined;
  readonly 'dry-run': boolean;
  readonly 'list-options': boolean;
  readonly 'overwrite-guide': boolean;
  readonly force: boolean;
  readonly git: boolean;
  readonly install: boolean;
};

/** Runs `botcli init`: from options, from a config file, as the quickstart, or with questions. */
export async function init(context: Pick<Context, 'io' | 'notify'>, values: InitValues): Promise<Report> {
  try {
    return await runInit(context, values);
  } catch (error) {
    // A follow-up step that is interrupted says so itself: by then the project is written.
    if (error instanceof Interrupted && error.result === null) throw new Interrupted('Nothing was written.');
    throw error;
  }
}

async function runInit({ io, notify }: Pick<Context, 'io' | 'notify'>, values: InitValues): Promise<Report> {
  if (values['list-options']) {
    const { listOptions } = await import('./configuration/list-options.ts');
    return jsonDocument(listOptions());
  }
  const options = projectOptions(values);
  const target = values['target-dir'];
  const writeOptionsFor = (directory: string): WriteOptions => ({
    directory,
    version,
    overwriteGuides: values['overwrite-guide'],
    refreshGuides: false,
    force: values.force,
    signal: io.signal,
    say: notify,
  });
  if (target === 'quickstart') return initQuickstart(io, values, options, writeOptionsFor);
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

/** Runs the steps of `--git` and `--install`. */
function followUpFor(io: Io, { git, install }: InitValues): RunFollowUp {
  return async (directory, configuration) => {
    if (!git && !install) return;
    const { followUp } = await import('./follow-up.ts');
    await followUp(io, directory, { git, install }, configuration);
  };
}

async function initQuickstart(
  io: Io,
  values: InitValues,
  options: ProjectOptions,
  writeOptionsFor: (directory: string) => WriteOptions,
): Promise<Report> {
  const refused = [
    ...Object.keys(options).map((name) => (isField(name) ? `--${fields[name].option}` : name)),
    ...(values.config === undefined ? [] : ['--config']),
  ];
  if (refused.length > 0) {
    throw new UsageError(
      `quickstart has fixed choices and does not accept ${refused.join(', ')}.`,
      'To create a project in a directory with that name, write ./quickstart.',
    );
  }
  const { configuration } = resolve(quickstart.options, quickstart.name);
  if (configuration === null) throw new Error('the quickstart does not resolve');
  if (values['dry-run']) return jsonDocument(configuration);
  const writeOptions = writeOptionsFor(absolute(io.directory, quickstart.name));
  return scaffold(io, values, configuration, await offerRefresh(io, writeOptions, 'scaffold'));
}

async function scaffold(
  io: Io,
  values: InitValues,
  configuration: Configuration,
  writeOptions: WriteOptions,
): Promise<Report> {
  const { directory } = writeOptions;
  const result = await makeProject(configuration, writeOptions);
  await followUpFor(io, values)(directory, configuration);
  return projectReport(configuration, directory, result, packageManagerFor(directory, io.environment));
}

/** The options that describe the project, by key; absent if not given. */
function projectOptions(values: InitValues): ProjectOptions {
  const entries = Object.entries(fields).flatMap(([name, { option, type }]) => {
    const value = values[option];
    const isAbsent = value === undefined || (type === 'texts' && Array.isArray(value) && value.length === 0);
    return isAbsent ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

function isField(name: string): name is keyof typeof fields {
  return Object.hasOwn(fields, name);
}

/** Resolves the file, overridden by the options. A `Failure` lists everything that is wrong with either. */
function resolveOptions(io: Io, options: ProjectOptions, file: string | undefined, defaultName: string): Configuration {
  const fromFile =
    file === undefined ? { options: {}, issues: [] } : readConfigFile(readConfigText(io.directory, file), options);
  const resolved = resolve({ ...fromFile.options, ...options }, defaultName);
  const invalidKeys = new Set(fromFile.issues.map(({ path }) => path));
  const issues = [
    ...fromFile.issues.map(({ path, message }) => ({ path: path === '' ? (file ?? '') : path, message })),
    // A value that is invalid in the file is not reported as missing, too.
    ...resolved.issues.filter(({ path }) => isField(path) && !fields[path].keys.some((key) => invalidKeys.has(key))),
  ];
  if (issues.length > 0 || resolved.configuration === null) {
    throw new Failure(
      'invalid-configuration',
      'The options do not describe a project. Nothing was written.',
      'List all values with: botcli init --list-options',
      issues,
    );
  }
  return resolved.configuration;
}

/** JSON with two spaces and nothing else, in every output mode. */
function jsonDocument(json: unknown): Report {
  return { json, blocks: [{ kind: 'document', text: `${JSON.stringify(json, null, 2)}\n` }] };
}
