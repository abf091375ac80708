import { createContext } from './command-line/context.ts';
import type { GlobalValues } from './command-line/global-options.ts';
import { leadingWords, mentions, parseLine, rawValue, requireGiven } from './command-line/parse-line.ts';
import { usageLine } from './command-line/usage.ts';
import { commands } from './commands.ts';
import { Failure, Interrupted, UsageError } from './failure.ts';
import { findCommand } from './find-command.ts';
import { type Described, localFailure } from './output/described.ts';
import { type OutputMode, outputModes } from './output/output-mode.ts';
import { printFailure, printReport, printStream, printText } from './output/print.ts';
import type { Subject } from './service/describe-failure.ts';
import type { Settings } from './service/settings.ts';
import { version } from './version.ts';
import type { World } from './world/world.ts';

/** Runs one command line and answers its exit status: 0 done, 1 failed, 2 called wrongly, 130 interrupted. */
export async function run(world: World, args: readonly string[]): Promise<0 | 1 | 2 | 130> {
  const mode = modeOf(world, args);
  const seen: Seen = { settings: null, isStream: false, subject: { agent: null, hasSession: false } };
  try {
    await execute(world, args, mode, seen);
    return 0;
  } catch (error) {
    if (error instanceof Interrupted || world.signal.aborted) {
      await printFailure(world, mode, localFailure('interrupted', new Interrupted().message), seen.isStream);
      return 130;
    }
    if (error instanceof UsageError) {
      await printFailure(world, mode, localFailure('usage', error.message, error.hint), seen.isStream);
      return 2;
    }
    await printFailure(world, mode, await describe(error, seen), seen.isStream);
    return 1;
  }
}

/** What was settled before something failed, for the words about the failure. */
type Seen = { settings: Settings | null; isStream: boolean; subject: Subject };

async function execute(world: World, args: readonly string[], mode: OutputMode, seen: Seen): Promise<void> {
  checkOutputMode(world, args);
  if (mentions(args, 'version')) return printText(world, mode, `botcli ${version}`, { version });
  const words = leadingWords(args);
  const asksHelp = words[0]?.text === 'help';
  const found = findCommand(asksHelp ? words.slice(1) : words);
  const command = found.kind === 'command' ? (await commands[found.path]?.())?.command : undefined;
  if (asksHelp || mentions(args, 'help', command?.options) || args.length === 0) {
    const { commandHelp, groupHelp } = await import('./help.ts');
    const style = await helpStyle(world, mode);
    const help = found.kind === 'command' ? await commandHelp(found.path, style) : await groupHelp(found.path, style);
    return printText(world, mode, help, { help });
  }
  const indexes = new Set(found.words.map(({ index }) => index));
  if (found.kind === 'group') {
    parseLine(args, indexes, { arguments: {}, options: {} });
    const place = ['botcli', found.path].filter((part) => part !== '').join(' ');
    throw new UsageError(`"${place}" needs a subcommand.`, `See which with: ${place} --help`);
  }
  if (command === undefined) throw new Error(`no command at ${found.path}`);
  const values = parseLine(args, indexes, command);
  requireGiven(values, command, usageLine(found.path, command));
  seen.subject = subjectOf(found.path, values);
  const suggest = async (line: readonly string[]) => (await import('./suggest-words.ts')).suggestWords(line);
  const context = await createContext(world, {
    flags: values as GlobalValues,
    mode,
    isLocal: command.isLocal,
    suggest,
  });
  seen.settings = context.settings;
  try {
    const said = await command.run(context, values);
    seen.isStream = 'pieces' in said;
    await ('pieces' in said ? printStream(world, mode, said) : printReport(world, mode, said));
  } finally {
    context.talk.status(null);
  }
}

/** On a terminal help fits its width, up to what reads well, and its titles stand out. */
async function helpStyle(world: World, mode: OutputMode) {
  if (mode !== 'rich') return undefined;
  const { colorsFor } = await import('./output/colors.ts');
  const colors = await colorsFor(world, world.stdout);
  return { columns: Math.min(world.stdout.columns, 110), title: colors.bold };
}

/** Elsewhere `name` and `id` are those of keys or organizations. */
function subjectOf(path: string, values: Readonly<Record<string, unknown>>): Subject {
  const { name, id, session, 'session-id': sessionId } = values;
  if (!path.startsWith('cloud agent ') || typeof name !== 'string') return { agent: null, hasSession: false };
  return { agent: name, hasSession: [id, session, sessionId].some((value) => value !== undefined) };
}

async function describe(error: unknown, { settings, subject }: Seen): Promise<Described> {
  if (error instanceof Failure) {
    return { ...localFailure(error.reason, error.message, error.hint), issues: error.issues, details: error.details };
  }
  const { describeServiceFailure } = await import('./service/describe-failure.ts');
  const described = describeServiceFailure(error, settings, subject);
  if (described !== null) return described;
  return localFailure('internal', `Something went wrong in botcli: ${error instanceof Error ? error.message : error}`);
}

/** The mode as far as it can be known, also for a line that is wrong elsewhere. */
function modeOf(world: World, args: readonly string[]): OutputMode {
  if (mentions(args, 'json')) return 'json';
  const asked = rawValue(args, 'output') ?? world.environment.output;
  return outputModes.find((mode) => mode === asked) ?? (world.stdout.terminal ? 'rich' : 'plain');
}

function checkOutputMode(world: World, args: readonly string[]): void {
  const asked = world.environment.output;
  if (asked === null || rawValue(args, 'output') !== null || outputModes.some((mode) => mode === asked)) return;
  throw new UsageError(`BOTCLI_OUTPUT takes ${outputModes.join(', ')}, not ${JSON.stringify(asked)}.`);
}
