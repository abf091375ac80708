import { createCommandContext } from './command-line/context.ts';
import type { GlobalOptionValues } from './command-line/global-options.ts';
import {
  findPositionalWords,
  hasGlobalFlag,
  parseCommandLine,
  readRawOption,
  requireMandatoryValues,
} from './command-line/parse-line.ts';
import { formatUsage } from './command-line/usage.ts';
import { aliasWords, commands } from './commands.ts';
import type { ResourcesNamedInCommand } from './connection/describe-failure.ts';
import type { Settings } from './connection/settings.ts';
import { Failure, InterruptedError, UsageError } from './failure.ts';
import { findCommand } from './find-command.ts';
import type { CommandIo } from './io/io.ts';
import { describeLocalFailure, type FailureDescription } from './output/failure-description.ts';
import { type OutputMode, outputModes } from './output/output-mode.ts';
import { printCommandInterruption, printFailure, printReport, printStreamedReport, printText } from './output/print.ts';
import { version } from './version.ts';

/** Runs a command line and returns its exit status: 0 success, 1 failure, 2 usage error, 130 interrupted. */
export async function runCommandLine(io: CommandIo, args: readonly string[]): Promise<0 | 1 | 2 | 130> {
  const mode = resolveOutputMode(io, args);
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
    if (error instanceof InterruptedError || io.signal.aborted) {
      await printCommandInterruption(
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

/** Facts about the running command that error messages depend on. */
type RunState = { settings: Settings | null; isLocal: boolean; isStream: boolean; subject: ResourcesNamedInCommand };

/**
 * Returns the message for an interruption. A command prompts before its first change, so after Ctrl-C at a prompt nothing was
 * changed.
 */
function interruptionMessage(error: unknown, { signal }: CommandIo, { isLocal }: RunState): string {
  if (error instanceof InterruptedError && error.result !== null) return error.message;
  if (signal.aborted) return 'Interrupted.';
  return isLocal ? 'Canceled. Nothing was written.' : 'Canceled. Nothing was changed.';
}

async function execute(io: CommandIo, args: readonly string[], mode: OutputMode, state: RunState): Promise<void> {
  checkOutputMode(io, args);
  if (hasGlobalFlag(args, 'version')) return printText(io, mode, `botcli ${version}`, { version });
  const words = findPositionalWords(args);
  const isHelpCommand = words[0]?.text === 'help';
  const match = findCommand(isHelpCommand ? words.slice(1) : words);
  const command = match.kind === 'command' ? (await commands[match.path]?.())?.command : undefined;
  if (isHelpCommand || hasGlobalFlag(args, 'help', command?.options) || args.length === 0) {
    const { formatCommandHelp, formatGroupHelp } = await import('./help.ts');
    const style = await helpStyle(io, mode);
    const help =
      match.kind === 'command' ? await formatCommandHelp(match.path, style) : await formatGroupHelp(match.path, style);
    return printText(io, mode, help, { help });
  }
  const indexes = new Set(match.words.map(({ index }) => index));
  if (match.kind === 'group') {
    parseCommandLine(args, indexes, { arguments: {}, options: {} });
    const commandPath = ['botcli', match.path].filter((part) => part !== '').join(' ');
    throw new UsageError(`"${commandPath}" needs a subcommand.`, `To list the commands, run: ${commandPath} --help`);
  }
  if (command === undefined) throw new Error(`There is no command "${match.path}".`);
  const added = aliasWords[match.words.map(({ text }) => text).join(' ')] ?? [];
  const values = parseCommandLine([...args, ...added], indexes, command);
  requireMandatoryValues(values, command, formatUsage(match.path, command));
  state.isLocal = command.isLocal;
  state.subject = findSubject(match.path, values);
  const suggest = async (line: readonly string[]) => (await import('./suggest-words.ts')).suggestWords(line);
  const context = await createCommandContext(io, {
    flags: values as GlobalOptionValues,
    mode,
    isLocal: command.isLocal,
    suggest,
  });
  state.settings = context.settings;
  try {
    const result = await command.run(context, values);
    state.isStream = 'pieces' in result;
    await ('pieces' in result ? printStreamedReport(io, mode, result) : printReport(io, mode, result));
  } finally {
    context.messages.status(null);
  }
}

/** On a terminal, help has bold titles and is wrapped at the width of the terminal, but at most at 110 columns. */
async function helpStyle(io: CommandIo, mode: OutputMode) {
  if (mode !== 'rich') return undefined;
  const { loadColors } = await import('./output/colors.ts');
  const colors = await loadColors(io, io.stdout);
  return { columns: Math.min(io.stdout.columns, 110), title: colors.bold };
}

/**
 * Returns the agent that a command of `cloud agent`, or `cloud phone show`, names. In other commands, the arguments `name` and `id`
 * can name something else, for example a key or an organization.
 */
function findSubject(path: string, values: Readonly<Record<string, unknown>>): ResourcesNamedInCommand {
  const { name, id, session, 'session-id': sessionId } = values;
  const region = typeof values['region'] === 'string' ? values['region'] : null;
  if (!/^cloud (?:agent |phone show$)/.test(path) || typeof name !== 'string')
    return { agent: null, hasSession: false, region };
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
  const { describeServiceFailure } = await import('./connection/describe-failure.ts');
  const described = describeServiceFailure(error, settings, subject);
  if (described !== null) return described;
  return describeLocalFailure(
    'internal',
    `Internal error in botcli: ${error instanceof Error ? error.message : error}`,
  );
}

/** Returns the output mode, even for an invalid command line, so that its error is printed in the right mode. */
function resolveOutputMode(io: CommandIo, args: readonly string[]): OutputMode {
  if (hasGlobalFlag(args, 'json')) return 'json';
  const requested = readRawOption(args, 'output') ?? io.environment.output;
  return outputModes.find((mode) => mode === requested) ?? (io.stdout.isTerminal ? 'rich' : 'plain');
}

function checkOutputMode(io: CommandIo, args: readonly string[]): void {
  const requested = io.environment.output;
  if (requested === null || readRawOption(args, 'output') !== null || outputModes.some((mode) => mode === requested))
    return;
  throw new UsageError(`BOTCLI_OUTPUT must be one of ${outputModes.join(', ')}, not ${JSON.stringify(requested)}.`);
}
