import { parsePeriodSeconds } from '@bothost/contract/period';
import { UsageError } from '../failure.ts';

export type FlagOption = { readonly kind: 'flag'; readonly short?: string; readonly description: string };

/** Values that shell completion suggests. If this is a function, it is called only when completion needs the values. */
export type CompletionWords = readonly string[] | (() => Promise<readonly string[]>);

/** An option with a value. `read` parses the text of the value, or throws a `UsageError`. */
export type ValueOption<T, Required extends boolean = boolean> = {
  readonly kind: 'value';
  readonly short?: string;
  /** The name of the value in help, for example `N`. */
  readonly placeholder: string;
  readonly description: string;
  readonly required: Required;
  /** Values that shell completion suggests. Undefined if completion has no suggestions for this option. */
  readonly words?: CompletionWords;
  readonly read: (text: string) => T;
};

export type RepeatedOption<T> = Omit<ValueOption<T, false>, 'kind'> & { readonly kind: 'values' };

/** An option that has a negative form: `--name` means true, `--no-name` means false. */
export type SwitchOption = { readonly kind: 'switch'; readonly short?: string; readonly description: string };

/** An option whose value is optional: `--name` alone means `defaultValue`, and `--name=VALUE` means the given value. */
export type OptionalValueOption<T> = Omit<ValueOption<T, false>, 'kind'> & {
  readonly kind: 'optional-value';
  readonly defaultValue: T;
};

export type Option =
  | FlagOption
  | SwitchOption
  | ValueOption<unknown>
  | RepeatedOption<unknown>
  | OptionalValueOption<unknown>;
export type Options = Readonly<Record<string, Option>>;

type OptionDescription = {
  readonly description: string;
  readonly short?: string;
  readonly placeholder?: string;
  readonly words?: CompletionWords;
};

export function flagOption(description: string, short?: string): FlagOption {
  return { kind: 'flag', description, ...(short === undefined ? {} : { short }) };
}

/** The options of a command that asks for confirmation. `defineCommand` explains them in its help. */
export const confirmationOptions = {
  yes: flagOption('Skip the confirmation', 'y'),
  force: flagOption('Skip the confirmation', 'f'),
};

export function switchOption(description: string, short?: string): SwitchOption {
  return { kind: 'switch', description, ...(short === undefined ? {} : { short }) };
}

export function repeatedOption<T>(option: ValueOption<T, false>): RepeatedOption<T> {
  return { ...option, kind: 'values' };
}

export function optionalValueOption<T>(option: ValueOption<T, false>, defaultValue: T): OptionalValueOption<T> {
  return { ...option, kind: 'optional-value', defaultValue };
}

export function textOption(describe: OptionDescription): ValueOption<string, false> {
  return defineValueOption(describe, 'TEXT', (text) => {
    if (text.trim() === '') throw new UsageError('needs a non-empty value');
    return text;
  });
}

export function integerOption(
  describe: OptionDescription,
  minimum: number,
  maximum: number,
): ValueOption<number, false> {
  return defineValueOption(describe, 'N', (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
      throw new UsageError(`takes a whole number from ${minimum} to ${maximum}, not ${JSON.stringify(text)}`);
    }
    return value;
  });
}

/** The number of items on a page. `items` names them in the plural, such as `Builds`. */
export function pageSizeOption(
  limits: { readonly default: number; readonly maximum: number },
  items: string,
): ValueOption<number, false> {
  return integerOption(
    { description: `${items} per page, ${limits.default} by default`, short: 'n' },
    1,
    limits.maximum,
  );
}

export function choiceOption<const Word extends string>(
  describe: OptionDescription,
  words: readonly Word[],
): ValueOption<Word, false> {
  return defineValueOption({ words, ...describe }, words.join('|'), (text) => {
    const word = words.find((candidate) => candidate === text);
    if (word === undefined) throw new UsageError(`must be one of ${words.join(', ')}, not ${JSON.stringify(text)}`);
    return word;
  });
}

/** Parses a duration such as `90d` to seconds. The units are s, m, h, d and w. */
export function durationOption(describe: OptionDescription, maximumSeconds: number): ValueOption<number, false> {
  return defineValueOption(describe, 'SPAN', (text) => {
    const seconds = parsePeriodSeconds(text) ?? 0;
    if (seconds < 1 || seconds > maximumSeconds) {
      const maximumDays = Math.floor(maximumSeconds / 86_400);
      throw new UsageError(
        `takes a duration like 12h, 90d or 2w, at most ${maximumDays}d, not ${JSON.stringify(text)}`,
      );
    }
    return seconds;
  });
}

export function requiredOption<T>(option: ValueOption<T, false>): ValueOption<T, true> {
  return { ...option, required: true };
}

function defineValueOption<T>(
  describe: OptionDescription,
  placeholder: string,
  read: (text: string) => T,
): ValueOption<T, false> {
  return { kind: 'value', placeholder, required: false, read, ...describe };
}
