import type { CommandReport, CommandReportStream } from '../output/report.ts';
import type { CommandContext } from './context.ts';
import {
  type CompletionWords,
  confirmationOptions,
  type OptionalValueOption,
  type Options,
  type RepeatedOption,
  type SwitchOption,
  type ValueOption,
} from './options.ts';

/** A positional argument. If `many` is true, the argument takes all remaining words. */
export type PositionalArgument = {
  readonly description: string;
  readonly optional?: true;
  readonly many?: true;
  readonly words?: CompletionWords;
};
/**
 * The positional arguments of a command, by the names that help shows. The keys are in command-line order: required arguments,
 * then optional arguments, then an argument with `many`.
 */
export type PositionalArguments = Readonly<Record<string, PositionalArgument>>;

/** A command of botcli. Its name is its key in `commands.ts`. */
export type Command = {
  readonly summary: string;
  /** Paragraphs that `--help` and the command reference print after the summary. */
  readonly details: string | null;
  readonly arguments: PositionalArguments;
  readonly options: Options;
  /** A local command sends no requests, so it works with an invalid profile or service URL. */
  readonly isLocal: boolean;
  /** Examples for help: valid command lines without the leading `botcli`. */
  readonly examples: readonly string[];
  run(context: CommandContext, values: Readonly<Record<string, unknown>>): Promise<CommandReport | CommandReportStream>;
};

type Values<A extends PositionalArguments, O extends Options> = {
  readonly [N in keyof A]: A[N] extends { readonly many: true }
    ? readonly string[]
    : A[N] extends { readonly optional: true }
      ? string | undefined
      : string;
} & { readonly [N in keyof O]: OptionValue<O[N]> };

type OptionValue<Option> =
  Option extends ValueOption<infer T, infer R>
    ? R extends true
      ? T
      : T | undefined
    : Option extends RepeatedOption<infer T>
      ? readonly T[]
      : Option extends OptionalValueOption<infer T>
        ? T | undefined
        : Option extends SwitchOption
          ? boolean | undefined
          : boolean;

const confirmationDetails = 'On a terminal, the command asks for confirmation. Without one, it needs --yes.';

/**
 * Defines a command. `run` receives the parsed and typed arguments and options. A command file imports only types from
 * `@bothost/contract` and loads other modules in `run`, so that help and completion can load all command files quickly.
 */
export function defineCommand<
  const A extends PositionalArguments = Record<never, never>,
  const O extends Options = Record<never, never>,
>(definition: {
  readonly summary: string;
  readonly details?: string;
  readonly isLocal?: true;
  readonly arguments?: A;
  readonly options?: O;
  readonly examples: readonly string[];
  readonly run: (context: CommandContext, values: Values<A, O>) => Promise<CommandReport | CommandReportStream>;
}): Command {
  const details = definition.details === undefined ? [] : [definition.details];
  if (definition.options?.['yes'] === confirmationOptions.yes) details.push(confirmationDetails);
  return {
    arguments: {},
    options: {},
    ...definition,
    details: details.length === 0 ? null : details.join('\n'),
    isLocal: definition.isLocal ?? false,
    // The cast is safe, because the parser creates the values according to `definition`.
    run: (context, values) => definition.run(context, values as Values<A, O>),
  };
}
