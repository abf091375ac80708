import { autocomplete, confirm, isCancel, multiselect, type Option, select, text } from '@clack/prompts';
import { InterruptedError } from '../failure.ts';
import type { PromptChoice, Prompter } from './io.ts';

const minSearchableChoices = 9;
/** Prompts go to standard error, because standard output is for data. */
const output = process.stderr;

/** Creates prompts on the terminal. Ctrl-C, Escape and an aborted signal throw `InterruptedError`. */
export const createPrompter = (signal: AbortSignal): Omit<Prompter, 'secret'> => ({
  confirm: (message, initial = false) =>
    withSignal(signal, async (own) =>
      requireAnswer(await confirm({ message, initialValue: initial, output, signal: own })),
    ),
  text: (message, initial, check) =>
    withSignal(signal, async (own) => {
      // Show the default as a placeholder. As an initial value, the default would remain in the line, and typed text would be
      // added to it.
      const validate = (value: string | undefined) =>
        check(value === undefined || value === '' ? initial : value) ?? undefined;
      const promptOptions = { message, placeholder: initial, defaultValue: initial, validate, output, signal: own };
      return requireAnswer(await text(promptOptions));
    }),
  select: (message, choices, initial) =>
    withSignal(signal, async (own) => {
      const promptOptions = { message, options: toOptions(choices), initialValue: initial, output, signal: own };
      const answer = await (choices.length < minSearchableChoices
        ? select<string>(promptOptions)
        : autocomplete<string>({
            ...promptOptions,
            placeholder: 'type to search',
            maxItems: 10,
            validate: requireMatch,
          }));
      return selectedValues(choices, [requireAnswer(answer)])[0] ?? initial;
    }),
  multiselect: (message, choices, initial) =>
    withSignal(signal, async (own) => {
      const initialValues = [...initial];
      const promptOptions = {
        message,
        options: toOptions(choices),
        initialValues,
        required: false,
        output,
        signal: own,
      };
      return selectedValues(choices, requireAnswer(await multiselect<string>(promptOptions)));
    }),
});

/** Runs one prompt with its own signal, because the prompt library never removes its listeners from a signal. */
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

/**
 * Returns an error message if the user presses Enter while no choice matches the search. Without this check, Enter would select
 * the initial value.
 */
function requireMatch(value: unknown): string | undefined {
  return value === undefined || (Array.isArray(value) && value.length === 0)
    ? 'No choice matches the search.'
    : undefined;
}

function toOptions(choices: readonly PromptChoice[]): Option<string>[] {
  return choices.map(({ value, label, hint }) => ({ value, label, ...(hint === undefined ? {} : { hint }) }));
}

/** Returns the selected values with their exact type, because the prompt library returns them as strings. */
function selectedValues<Value extends string>(
  choices: readonly PromptChoice<Value>[],
  answers: readonly string[],
): Value[] {
  return choices.flatMap(({ value }) => (answers.includes(value) ? [value] : []));
}

function requireAnswer<Answer>(answer: Answer): Exclude<Answer, symbol> {
  if (isCancel(answer)) throw new InterruptedError();
  return answer as Exclude<Answer, symbol>;
}
