import type { Report, Stream } from '../output/report.ts';
import type { Context } from './context.ts';
import type { CompletionWords, OptionalValueOption, Options, RepeatedOption, Switch, ValueOption } from './options.ts';

/**
 * A word that stands at its place on the command line; it has to be given unless it is optional. With `many` it takes all
 * words that are left.
 */
export type Argument = {
  readonly description: string;
  readonly optional?: true;
  readonly many?: true;
  readonly words?: CompletionWords;
};
/** By the name in help, in the order on the command line; optional ones come last, and one of many words after all. */
export type Arguments = Readonly<Record<string, Argument>>;

/** One command of the program as a value; where it stands in the tree is said by `commands.ts` alone. */
export type Command = {
  readonly summary: string;
  /** More for `--help` and the reference. Each line is a paragraph. */
  readonly details: string | null;
  readonly arguments: Arguments;
  readonly options: Options;
  /** It asks no service, so that it works whatever the profile and the address of the service are like. */
  readonly isLocal: boolean;
  /** Lines that work as they are, without the leading `botcli`. */
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
    // The parser made the values by these very descriptions; this is the one place where the types meet again.
    run: (context, values) => definition.run(context, values as Values<A, O>),
  };
}
