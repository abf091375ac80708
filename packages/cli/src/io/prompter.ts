import { autocomplete, confirm, isCancel, multiselect, type Option, select, text } from '@clack/prompts';
import { Interrupted } from '../failure.ts';
import type { Choice, Prompter } from './io.ts';

/** Lists with at least this many choices can be searched. */
const longList = 9;
/** Prompts go to standard error: standard output is for data. */
const output = process.stderr;

/**
 * Prompts on the terminal. Ctrl-C, Escape and an aborted signal throw `Interrupted`. Secrets are prompted for by
 * `hidden-prompt.ts`.
 */
export const createPrompter = (signal: AbortSignal): Omit<Prompter, 'secret'> => ({
  confirm: (message, initial = false) =>
    withSignal(signal, async (own) =>
      requireAnswer(await confirm({ message, initialValue: initial, output, signal: own })),
    ),
  text: (message, initial, check) =>
    withSignal(signal, async (own) => {
      // A placeholder, not an initial value: typed text must replace it, not be appended to it.
      const validate = (value: string | undefined) =>
        check(value === undefined || value === '' ? initial : value) ?? undefined;
      const asked = { message, placeholder: initial, defaultValue: initial, validate, output, signal: own };
      return requireAnswer(await text(asked));
    }),
  select: (message, choices, initial) =>
    withSignal(signal, async (own) => {
      const asked = { message, options: toOptions(choices), initialValue: initial, output, signal: own };
      const answer = await (choices.length < longList
        ? select<string>(asked)
        : autocomplete<string>({ ...asked, placeholder: 'type to search', maxItems: 10, validate: requireMatch }));
      return selectedValues(choices, [requireAnswer(answer)])[0] ?? initial;
    }),
  multiselect: (message, choices, initial) =>
    withSignal(signal, async (own) => {
      const initialValues = [...initial];
      const asked = { message, options: toOptions(choices), initialValues, required: false, output, signal: own };
      return selectedValues(choices, requireAnswer(await multiselect<string>(asked)));
    }),
});

/** Gives each prompt a signal of its own: the library never removes its listener. */
async function withSignal<Answer>(signal: AbortSignal, ask: (own: AbortSignal) => Promise<Answer>): Promise<Answer> {
  const own = new AbortController();
  const end = () => own.abort();
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await ask(own.signal);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Without this check, Enter on a search without matches would select the initial value. */
function requireMatch(value: unknown): string | undefined {
  return value === undefined || (Array.isArray(value) && value.length === 0)
    ? 'Nothing in the list matches.'
    : undefined;
}

function toOptions(choices: readonly Choice[]): Option<string>[] {
  return choices.map(({ value, label, hint }) => ({ value, label, ...(hint === undefined ? {} : { hint }) }));
}

/** Restores the type of the values: the library returns strings. */
function selectedValues<Value extends string>(choices: readonly Choice<Value>[], answers: readonly string[]): Value[] {
  return choices.flatMap(({ value }) => (answers.includes(value) ? [value] : []));
}

function requireAnswer<Answer>(answer: Answer): Exclude<Answer, symbol> {
  if (isCancel(answer)) throw new Interrupted();
  return answer as Exclude<Answer, symbol>;
}
