import { UsageError } from '../failure.ts';

/** An option that is there or not. */
export type Flag = { readonly kind: 'flag'; readonly short?: string; readonly description: string };

/** The values that there are, for completion; a call where making them costs something. */
export type CompletionWords = readonly string[] | (() => Promise<readonly string[]>);

/** An option with a value. `read` turns its text into the value or throws a `UsageError`. */
export type ValueOption<T, Required extends boolean = boolean> = {
  readonly kind: 'value';
  readonly short?: string;
  /** What stands for the value in help, as in `N`. */
  readonly placeholder: string;
  readonly description: string;
  readonly required: Required;
  /** Absent where any text or a file will do. */
  readonly words?: CompletionWords;
  readonly read: (text: string) => T;
};

/** An option that may be given more than once, a value each time. */
export type RepeatedOption<T> = Omit<ValueOption<T, false>, 'kind'> & { readonly kind: 'values' };

/** `--name` or `--no-name`; neither is a third answer. */
export type Switch = { readonly kind: 'switch'; readonly short?: string; readonly description: string };

/** `--name` or `--name=VALUE`; the name alone stands for the value `alone`. */
export type OptionalValueOption<T> = Omit<ValueOption<T, false>, 'kind'> & {
  readonly kind: 'loose';
  readonly defaultValue: T;
};

export type Option = Flag | Switch | ValueOption<unknown> | RepeatedOption<unknown> | OptionalValueOption<unknown>;
/** By the name on the command line, without the dashes. */
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

/** On, off, or not said. */
export function onOff(description: string, short?: string): Switch {
  return { kind: 'switch', description, ...(short === undefined ? {} : { short }) };
}

/** Makes an option one that may be given more than once. */
export function repeated<T>(option: ValueOption<T, false>): RepeatedOption<T> {
  return { ...option, kind: 'values' };
}

/** Makes an option's value one that may be left out; `alone` is then its value. */
export function optionalValue<T>(option: ValueOption<T, false>, defaultValue: T): OptionalValueOption<T> {
  return { ...option, kind: 'loose', defaultValue };
}

/** The text as it is; an empty one is refused. */
export function text(describe: OptionDescription): ValueOption<string, false> {
  return valued(describe, 'TEXT', (given) => {
    if (given.trim() === '') throw new UsageError('needs a value that is not empty');
    return given;
  });
}

/** A whole number within both bounds. */
export function integer(describe: OptionDescription, minimum: number, maximum: number): ValueOption<number, false> {
  return valued(describe, 'N', (given) => {
    const value = Number(given);
    if (!/^\d+$/.test(given) || value < minimum || value > maximum) {
      throw new UsageError(`takes a whole number from ${minimum} to ${maximum}, not ${JSON.stringify(given)}`);
    }
    return value;
  });
}

/** One of a few words. */
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

/** A span like `90d`, in seconds. Units: s, m, h, d, w. */
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

/** Makes an option one that has to be given. */
export function required<T>(option: ValueOption<T, false>): ValueOption<T, true> {
  return { ...option, required: true };
}

function valued<T>(describe: OptionDescription, placeholder: string, read: (text: string) => T): ValueOption<T, false> {
  return { kind: 'value', placeholder, required: false, read, ...describe };
}
