import { UsageError } from '../failure.ts';

/** An option without a value. */
export type Flag = { readonly kind: 'flag'; readonly short?: string; readonly description: string };

/** The possible values, for completion; a function if computing them is expensive. */
export type CompletionWords = readonly string[] | (() => Promise<readonly string[]>);

/** An option with a value. `read` parses its text or throws a `UsageError`. */
export type ValueOption<T, Required extends boolean = boolean> = {
  readonly kind: 'value';
  readonly short?: string;
  /** The name of the value in help, such as `N`. */
  readonly placeholder: string;
  readonly description: string;
  readonly required: Required;
  /** Missing if any text is valid. */
  readonly words?: CompletionWords;
  readonly read: (text: string) => T;
};

/** An option with a value that can be given more than once. */
export type RepeatedOption<T> = Omit<ValueOption<T, false>, 'kind'> & { readonly kind: 'values' };

/** `--name` or `--no-name`; undefined if neither is given. */
export type Switch = { readonly kind: 'switch'; readonly short?: string; readonly description: string };

/** `--name` or `--name=VALUE`; without a value, `defaultValue` is used. */
export type OptionalValueOption<T> = Omit<ValueOption<T, false>, 'kind'> & {
  readonly kind: 'optional-value';
  readonly defaultValue: T;
};

export type Option = Flag | Switch | ValueOption<unknown> | RepeatedOption<unknown> | OptionalValueOption<unknown>;
/** Options by their names, without the dashes. */
export type Options = Readonly<Record<string, Option>>;

type OptionDescription = {
  readonly description: string;
  readonly short?: string;
  readonly placeholder?: string;
  readonly words?: CompletionWords;
};

export function flag(description: string, short?: string): Flag {
  return { kind: 'flag', description, ...(short === undefined ? {} : { short }) };
}

/** An option that is on, off or not given. */
export function onOff(description: string, short?: string): Switch {
  return { kind: 'switch', description, ...(short === undefined ? {} : { short }) };
}

/** Lets an option be given more than once. */
export function repeated<T>(option: ValueOption<T, false>): RepeatedOption<T> {
  return { ...option, kind: 'values' };
}

/** Lets an option be given without a value. */
export function optionalValue<T>(option: ValueOption<T, false>, defaultValue: T): OptionalValueOption<T> {
  return { ...option, kind: 'optional-value', defaultValue };
}

/** Any text that is not empty. */
export function text(describe: OptionDescription): ValueOption<string, false> {
  return valued(describe, 'TEXT', (given) => {
    if (given.trim() === '') throw new UsageError('needs a value that is not empty');
    return given;
  });
}

/** A whole number from `minimum` to `maximum`. */
export function integer(describe: OptionDescription, minimum: number, maximum: number): ValueOption<number, false> {
  return valued(describe, 'N', (given) => {
    const value = Number(given);
    if (!/^\d+$/.test(given) || value < minimum || value > maximum) {
      throw new UsageError(`takes a whole number from ${minimum} to ${maximum}, not ${JSON.stringify(given)}`);
    }
    return value;
  });
}

/** One of the given words. */
export function choice<const Word extends string>(
  describe: OptionDescription,
  words: readonly Word[],
): ValueOption<Word, false> {
  return valued({ words, ...describe }, words.join('|'), (given) => {
    const word = words.find((candidate) => candidate === given);
    if (word === undefined) throw new UsageError(`takes ${words.join(', ')}, not ${JSON.stringify(given)}`);
    return word;
  });
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** A duration such as `90d`, in seconds. Units: s, m, h, d, w. */
export function span(describe: OptionDescription, maximumSeconds: number): ValueOption<number, false> {
  return valued(describe, 'SPAN', (given) => {
    const [, digits = '', unit = ''] = /^(\d+)([smhdw])$/.exec(given) ?? [];
    const seconds = Number(digits) * (unitSeconds[unit] ?? 0);
    if (seconds < 1 || seconds > maximumSeconds) {
      const most = Math.floor(maximumSeconds / 86_400);
      throw new UsageError(`takes a time like 12h, 90d or 2w, at most ${most}d, not ${JSON.stringify(given)}`);
    }
    return seconds;
  });
}

/** Makes an option required. */
export function required<T>(option: ValueOption<T, false>): ValueOption<T, true> {
  return { ...option, required: true };
}

function valued<T>(describe: OptionDescription, placeholder: string, read: (text: string) => T): ValueOption<T, false> {
  return { kind: 'value', placeholder, required: false, read, ...describe };
}
