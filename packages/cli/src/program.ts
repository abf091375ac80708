import { createContext } from './command-line/context.ts';
import type { GlobalValues } from './command-line/global-options.ts';
import { leadingWords, mentions, parseLine, rawValue, requireGiven } from './command-line/parse-line.ts';
import { usageLine } from './command-line/usage.ts';
import { commands } from './commands.ts';
import { Failure, Interrupted, UsageError } from './failure.ts';
import { findCommand } from './find-command.ts';
import type { Io } from './io/io.ts';
import { describeLocalFailure, type FailureDescription } from './output/failure-description.ts';
import { type OutputMode, outputModes } from './output/output-mode.ts';
import { printFailure, printInterruption, printReport, printStream, printText } from './output/print.ts';
import type { CommandSubject } from './service/describe-failure.ts';
import type { Settings } from './service/settings.ts';
import { version } from './version.ts';

/** Runs a command line and returns its exit status: 0 success, 1 failure, 2 usage error, 130 interrupted. */
export async function run(io: Io, args: readonly string[]): Promise<0 | 1 | 2 | 130> {
  const mode = outputModeFor(io, args);
  const state: RunState = {
    settings: null,
    isLocal: false,
    isStream: false,
    subject: { agent: null, hasSession: false, region: null },
  };
  try {
    await execute(io, args, mode, state);
    return 0;
  } catch (error) {
    if (error instanceof Interrupted || io.signal.aborted) {
      await printInterruption(
        io,
        mode,
        describeLocalFailure('interrupted', interruptionMessage(error, io, state)),
        state.isStream,
      );
      return 130;
    }
    if (error instanceof UsageError) {
      await printFailure(io, mode, describeLocalFailure('usage', error.message, error.hint), state.isStream);
      return 2;
    }
    await printFailure(io, mode, await describeError(error, state), state.isStream);
    return 1;
  }
}

/** What is known when a command fails, for its error message. */
type RunState = { settings: Settings | null; isLocal: boolean; isStream: boolean; subject: CommandSubject };

/** Prompts come before the first change, so Ctrl-C at a prompt has changed nothing. */
function interruptionMessage(error: unknown, { signal }: Io, { isLocal }: RunState): string {
  if (error instanceof Interrupted && error.result !== null) return error.message;
  if (signal.aborted) return 'Interrupted.';
  return isLocal ? 'Canceled. Nothing was written.' : 'Canceled. Nothing was changed.';
}

async function execute(io: Io, args: readonly string[], mode: OutputMode, state: RunState): Promise<void> {
  checkOutputMode(io, args);
  if (mentions(args, 'version')) return printText(io, mode, `botcli ${version}`, { version });
  const words = leadingWords(args);
  const isHelpCommand = words[0]?.text === 'help';
  const match = findCommand(isHelpCommand ? words.slice(1) : words);
  const command = match.kind === 'command' ? (await commands[match.path]?.())?.command : undefined;
  if (isHelpCommand || mentions(args, 'help', command?.options) || args.length === 0) {
    const { commandHelp, groupHelp } = await import('./help.ts');
    const style = await helpStyle(io, mode);
    const help = match.kind === 'command' ? await commandHelp(match.path, style) : await groupHelp(match.path, style);
    return printText(io, mode, help, { help });
  }
  const indexes = new Set(match.words.map(({ index }) => index));
  if (match.kind === 'group') {
    parseLine(args, indexes, { arguments: {}, options: {} });
    const place = ['botcli', match.path].filter((part) => part !== '').join(' ');
    throw new UsageError(`"${place}" needs a subcommand.`, `List them with: ${place} --help`);
  }
  if (command === undefined) throw new Error(`no command at ${match.path}`);
  const values = parseLine(args, indexes, command);
  requireGiven(values, command, usageLine(match.path, command));
  state.isLocal = command.isLocal;
  state.subject = subjectOf(match.path, values);
  const suggest = async (line: readonly string[]) => (await import('./suggest-words.ts')).suggestWords(line);
  const context = await createContext(io, {
    flags: values as GlobalValues,
    mode,
    isLocal: command.isLocal,
    suggest,
  });
  state.settings = context.settings;
  try {
    const result = await command.run(context, values);
    state.isStream = 'pieces' in result;
    await ('pieces' in result ? printStream(io, mode, result) : printReport(io, mode, result));
  } finally {
    context.messages.status(null);
  }
}

/** On a terminal, help is wrapped at its width, at most 110 columns, and titles are bold. */
async function helpStyle(io: Io, mode: OutputMode) {
  if (mode !== 'rich') return undefined;
  const { colorsFor } = await import('./output/colors.ts');
  const colors = await colorsFor(io, io.stdout);
  return { columns: Math.min(io.stdout.columns, 110), title: colors.bold };
}

/** Only for `cloud agent`: elsewhere, `name` and `id` are those of keys or organizations. */
function subjectOf(path: string, values: Readonly<Record<string, unknown>>): CommandSubject {
  const { name, id, session, 'session-id': sessionId } = values;
  const region = typeof values['region'] === 'string' ? values['region'] : null;
  if (!path.startsWith('cloud agent ') || typeof name !== 'string') return { agent: null, hasSession: false, region };
  return { agent: name, hasSession: [id, session, sessionId].some((value) => value !== undefined), region };
}

async function describeError(error: unknown, { settings, subject }: RunState): Promise<FailureDescription> {
  if (error instanceof Failure) {
    return {
      ...describeLocalFailure(error.reason, error.message, error.hint),
      issues: error.issues,
      details: error.details,
    };
  }
  const { describeServiceFailure } = await import('./service/describe-failure.ts');
  const described = describeServiceFailure(error, settings, subject);
  if (described !== null) return described;
  return describeLocalFailure(
    'internal',
    `Internal error in botcli: ${error instanceof Error ? error.message : error}`,
  );
}

/** The output mode, also for a command line with errors elsewhere. */
function outputModeFor(io: Io, args: readonly string[]): OutputMode {
  if (mentions(args, 'json')) return 'json';
  const asked = rawValue(args, 'output') ?? io.environment.output;
  return outputModes.find((mode) => mode === asked) ?? (io.stdout.isTerminal ? 'rich' : 'plain');
}

function checkOutputMode(io: Io, args: readonly string[]): void {
  const asked = io.environment.output;
  if (asked === null || rawValue(args, 'output') !== null || outputModes.some((mode) => mode === asked)) return;
  throw new UsageError(`BOTCLI_OUTPUT takes ${outputModes.join(', ')}, not ${JSON.stringify(asked)}.`);
}
