import { resolve as absolute, basename } from 'node:path';
import type { Context } from '../command-line/context.ts';
import { Failure, UsageError } from '../failure.ts';
import type { Io } from '../io/io.ts';
import type { Report } from '../output/report.ts';
import { version } from '../version.ts';
import type { Configuration } from './configuration/configuration.ts';
import { fields, type Given, merge, readConfigFile } from './configuration/fields.ts';
import { readConfigText } from './configuration/read-config.ts';
import { resolve } from './configuration/resolve.ts';
import type { Follow } from './init-by-asking.ts';
import { type Making, makeProject } from './make-project.ts';
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

/** What `botcli init` does (spec 4.2, 4.3; reference init, 7). */
export async function init({ io, notify }: Pick<Context, 'io' | 'notify'>, values: InitValues): Promise<Report> {
  if (values['list-options']) {
    const { listOptions } = await import('./configuration/list-options.ts');
    return document(listOptions());
  }
  const options = givenOptions(values);
  const asked = values['target-dir'];
  const makingIn = makingFrom(io, notify, values);
  if (asked === 'quickstart') return initQuickstart(io, values, options, makingIn);
  const described = Object.keys(options).length > 0 || values.config !== undefined || values['dry-run'];
  if (described) {
    const directory = absolute(io.directory, asked ?? '.');
    const configuration = settled(io, options, values.config, basename(directory));
    return values['dry-run'] ? document(configuration) : scaffold(io, values, configuration, makingIn(directory));
  }
  const { initByAsking } = await import('./init-by-asking.ts');
  return initByAsking(io, asked ?? null, makingIn, follow(io, values));
}

/** `--git` and `--install`, for whatever was made. */
function follow(world: Io, { git, install }: InitValues): Follow {
  return async (directory, configuration) => {
    if (!git && !install) return;
    const { followUp } = await import('./follow-up.ts');
    await followUp(world, directory, { git, install }, configuration);
  };
}

async function initQuickstart(world: Io, values: InitValues, options: Given, makingIn: MakingIn): Promise<Report> {
  const surplus = [
    ...Object.keys(options).map((name) => (isField(name) ? `--${fields[name].option}` : name)),
    ...(values.config === undefined ? [] : ['--config']),
  ];
  if (surplus.length > 0) {
    throw new UsageError(
      `quickstart has its own answers and does not accept ${surplus.join(', ')}.`,
      'For a directory with that name, write ./quickstart.',
    );
  }
  const { configuration } = resolve(quickstart.given, quickstart.name);
  if (configuration === null) throw new Error('the quickstart cannot be resolved');
  if (values['dry-run']) return document(configuration);
  const making = makingIn(absolute(world.directory, quickstart.name));
  return scaffold(world, values, configuration, await offerRefresh(world, making, 'scaffold'));
}

async function scaffold(world: Io, values: InitValues, configuration: Configuration, making: Making): Promise<Report> {
  const { directory } = making;
  const made = await makeProject(configuration, making);
  await follow(world, values)(directory, configuration);
  return projectReport(configuration, directory, made, packageManagerFor(directory, world.environment));
}

/** What the options say about the project; what was not said is absent. */
function givenOptions(values: InitValues): Given {
  const said = Object.entries(fields).flatMap(([name, { option, type }]) => {
    const value = values[option];
    const unsaid = value === undefined || (type === 'texts' && Array.isArray(value) && value.length === 0);
    return unsaid ? [] : [[name, value] as const];
  });
  return Object.fromEntries(said);
}

function isField(name: string): name is keyof typeof fields {
  return Object.hasOwn(fields, name);
}

/** Options over file, resolved; a `Failure` tells everything that is wrong with either. */
function settled(world: Io, options: Given, file: string | undefined, defaultName: string): Configuration {
  const said =
    file === undefined ? { given: {}, issues: [] } : readConfigFile(readConfigText(world.directory, file), options);
  const resolved = resolve(merge(said.given, options), defaultName);
  const unread = new Set(said.issues.map(({ path }) => path));
  // What the file says wrongly is not missing as well.
  const issues = [
    ...said.issues.map(({ path, message }) => ({ path: path === '' ? (file ?? '') : path, message })),
    ...resolved.issues.filter(({ path }) => isField(path) && !fields[path].keys.some((key) => unread.has(key))),
  ];
  if (issues.length > 0 || resolved.configuration === null) {
    const hint = 'List all values with: botcli init --list-options';
    throw new Failure(
      'invalid-configuration',
      'The project cannot be made from these answers. Nothing was written.',
      hint,
      issues,
    );
  }
  return resolved.configuration;
}

type MakingIn = (directory: string) => Making;

function makingFrom(world: Io, say: (text: string) => void, values: InitValues): MakingIn {
  return (directory) => ({
    directory,
    version,
    overwriteGuides: values['overwrite-guide'],
    refreshGuides: false,
    force: values.force,
    signal: world.signal,
    say,
  });
}

/** JSON with two spaces and nothing beside it, whatever the mode of output. */
function document(json: unknown): Report {
  return { json, blocks: [{ kind: 'document', text: `${JSON.stringify(json, null, 2)}\n` }] };
}
