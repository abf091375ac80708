import type { Report, Stream } from '../output/report.ts';
import type { Context } from './context.ts';
import type { CompletionWords, OptionalValueOption, Options, RepeatedOption, Switch, ValueOption } from './options.ts';

/** A positional argument, required unless it is optional. With `many` it takes all remaining words. */
export type Argument = {
  readonly description: string;
  readonly optional?: true;
  readonly many?: true;
  readonly words?: CompletionWords;
};
/** Arguments by their name in help, in the order of the command line: first required, then optional, then one with `many`. */
export type Arguments = Readonly<Record<string, Argument>>;

/** A command. Its name is in `commands.ts`. */
export type Command = {
  readonly summary: string;
  /** More for `--help` and the reference. Each line is a paragraph. */
  readonly details: string | null;
  readonly arguments: Arguments;
  readonly options: Options;
  /** The command sends no requests, so it works with an invalid profile or service URL. */
  readonly isLocal: boolean;
  /** Valid command lines, without `botcli`. */
  readonly examples: readonly string[];
  run(context: Context, values: Readonly<Record<string, unknown>>): Promise<Report | Stream>;
};

type Values<A extends Arguments, O extends Options> = {
  readonly [N in keyof A]: A[N] extends { readonly many: true }
    ? readonly string[]
    : A[N] extends { readonly optional: true }
      ? string | undefined
      : string;
} & { readonly [N in keyof O]: OptionValue<O[N]> };

type OptionValue<Given> =
  Given extends ValueOption<infer T, infer R>
    ? R extends true
      ? T
      : T | undefined
    : Given extends RepeatedOption<infer T>
      ? readonly T[]
      : Given extends OptionalValueOption<infer T>
        ? T | undefined
        : Given extends Switch
          ? boolean | undefined
          : boolean;

/**
 * Defines a command; `run` gets its arguments and options parsed and typed by their descriptions.
 *
 * Command files import the contract by type only: what a command needs at run time comes through its context, so that
 * help and completion can load every command cheaply.
 */
export function command<const A extends Arguments, const O extends Options>(definition: {
  readonly summary: string;
  readonly details?: string;
  readonly isLocal?: true;
  readonly arguments: A;
  readonly options: O;
  readonly examples: readonly string[];
  readonly run: (context: Context, values: Values<A, O>) => Promise<Report | Stream>;
}): Command {
  return {
    ...definition,
    details: definition.details ?? null,
    isLocal: definition.isLocal ?? false,
    // The parser made the values from `definition`, so they have this type.
    run: (context, values) => definition.run(context, values as Values<A, O>),
  };
}
