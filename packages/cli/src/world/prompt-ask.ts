import { autocomplete, confirm, isCancel, multiselect, type Option, select, text } from '@clack/prompts';
import { Interrupted } from '../failure.ts';
import type { Ask, Choice } from './world.ts';

/** From this many on, a list is searched by typing. */
const longList = 9;
/** Questions go to standard error: standard output belongs to data. */
const output = process.stderr;

/**
 * Asks on the terminal; Ctrl-C and Escape are an `Interrupted`, and so is the signal, also when it came before the question.
 * What is secret is asked for by `hidden-prompt.ts`.
 */
export const promptAsk = (signal: AbortSignal): Omit<Ask, 'secret'> => ({
  confirm: (message, initial = false) =>
    until(signal, async (own) => answered(await confirm({ message, initialValue: initial, output, signal: own }))),
  text: (message, initial, check) =>
    until(signal, async (own) => {
      // Shown until something is typed, and taken when nothing is: what is typed must not be appended to it.
      const validate = (value: string | undefined) =>
        check(value === undefined || value === '' ? initial : value) ?? undefined;
      const asked = { message, placeholder: initial, defaultValue: initial, validate, output, signal: own };
      return answered(await text(asked));
    }),
  choose: (message, choices, initial) =>
    until(signal, async (own) => {
      const asked = { message, options: optionsOf(choices), initialValue: initial, output, signal: own };
      const answer = await (choices.length < longList
        ? select<string>(asked)
        : autocomplete<string>({ ...asked, placeholder: 'type to search', maxItems: 10, validate: foundNothing }));
      return chosen(choices, [answered(answer)])[0] ?? initial;
    }),
  chooseMany: (message, choices, initial) =>
    until(signal, async (own) => {
      const initialValues = [...initial];
      const asked = { message, options: optionsOf(choices), initialValues, required: false, output, signal: own };
      return chosen(choices, answered(await multiselect<string>(asked)));
    }),
});

/** One question: prompts never let go of their signal, so each gets one of its own, and none listens after its answer. */
async function until<Answer>(signal: AbortSignal, ask: (own: AbortSignal) => Promise<Answer>): Promise<Answer> {
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

/** A search that finds nothing has no answer: the proposed one must not be taken for it. */
function foundNothing(value: unknown): string | undefined {
  return value === undefined || (Array.isArray(value) && value.length === 0)
    ? 'Nothing in the list matches.'
    : undefined;
}

function optionsOf(choices: readonly Choice[]): Option<string>[] {
  return choices.map(({ value, label, hint }) => ({ value, label, ...(hint === undefined ? {} : { hint }) }));
}

/** Typed again: the prompts know texts only. */
function chosen<Value extends string>(choices: readonly Choice<Value>[], answers: readonly string[]): Value[] {
  return choices.flatMap(({ value }) => (answers.includes(value) ? [value] : []));
}

function answered<Answer>(answer: Answer): Exclude<Answer, symbol> {
  if (isCancel(answer)) throw new Interrupted();
  return answer as Exclude<Answer, symbol>;
}
