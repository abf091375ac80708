import type { Report, Stream } from '../output/report.ts';
import type { Context } from './context.ts';
import type { CompletionWords, OptionalValueOption, Options, RepeatedOption, Switch, ValueOption } from './options.ts';

/** A positional argument. With `many`, it takes all remaining words. */
export type Argument = {
  readonly description: string;
  readonly optional?: true;
  readonly many?: true;
  readonly words?: CompletionWords;
};
/**
 * Keys are the names in help. The order is that of the command line: first required arguments, then optional ones, then one
 * with `many`.
 */
export type Arguments = Readonly<Record<string, Argument>>;

/** The name of a command is its key in `commands.ts`. */
export type Command = {
  readonly summary: string;
  /** Details for `--help` and the reference. Each line is a paragraph. */
  readonly details: string | null;
  readonly arguments: Arguments;
  readonly options: Options;
  /** A local command sends no requests, so it works with an invalid profile or service URL. */
  readonly isLocal: boolean;
  /** Valid command lines without the leading `botcli`. */
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
 * Defines a command. `run` gets its arguments and options parsed and typed. Command files import only types from the contract
 * and load other modules in `run`, so that help and completion can load every command quickly.
 */
export function defineCommand<const A extends Arguments, const O extends Options>(definition: {
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
    // The parser creates the values from `definition`, so they have this type.
    run: (context, values) => definition.run(context, values as Values<A, O>),
  };
}
