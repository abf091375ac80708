import { Failure } from '../../failure.ts';
import type { Choice, Prompter } from '../../io/io.ts';
import type { Configuration, Issue } from '../configuration/configuration.ts';
import { resolve } from '../configuration/resolve.ts';
import { type Answers, givenBy, questions } from './questions.ts';

/** Offered by every list, as the last choice; where several can be marked, its mark alone counts. */
const back = '(back)';
const backChoice: Choice = { value: back, label: 'Back', hint: 'to the question before' };
const backToLast = { value: 'back', label: 'Back', hint: 'to the last question' } as const;
const drop = { value: 'drop', label: 'No, write nothing' } as const;

/**
 * Asks for everything a project needs, shows it, and lets it be confirmed; each question can be gone back from. Ctrl-C at
 * any of them is an `Interrupted`. Nothing is written here.
 */
export async function askForConfiguration(ask: Prompter, defaultName: string): Promise<Configuration> {
  let answers: Answers = {};
  /** What was answered at last to each question, also to those that were gone back from: it is proposed again. */
  let former: Answers = {};
  const asked: Answers[] = [];
  for (;;) {
    const question = questions.find((one) => !Object.hasOwn(answers, one.name) && one.when(answers));
    if (question === undefined) {
      const { configuration, issues } = resolve(givenBy(answers), defaultName);
      const end = await (configuration === null ? refused(ask, issues) : confirmed(ask, configuration));
      if (end === 'make' && configuration !== null) return configuration;
      if (end === 'drop') throw new Failure('declined', 'Nothing was written.');
      answers = asked.pop() ?? {};
      continue;
    }
    const proposed = former[question.name];
    const extra = asked.length > 0 ? [backChoice] : [];
    const answer = await question.ask(ask, { answers, proposed, defaultName, extra });
    if (answer === back) {
      answers = asked.pop() ?? {};
      continue;
    }
    const kept = typeof answer === 'string' ? answer : answer.filter((value) => value !== back);
    former = { ...former, [question.name]: kept };
    if (kept.length < answer.length) {
      answers = asked.pop() ?? {};
      continue;
    }
    asked.push(answers);
    answers = { ...answers, [question.name]: answer };
  }
}

/** Answers that do not fit together cost no more than the last of them. */
function refused(ask: Prompter, issues: readonly Issue[]): Promise<'drop' | 'back'> {
  const lines = issues.map(({ path, message }) => `  ${path.replaceAll('_', ' ')}: ${message}`);
  return ask.select(['These answers do not work together.', ...lines].join('\n'), [backToLast, drop], 'back');
}

async function confirmed(ask: Prompter, configuration: Configuration): Promise<'make' | 'drop' | 'back'> {
  const chosen = Object.entries(configuration).flatMap(([key, value]) => {
    if (value === null || value === false) return [];
    const shown = Array.isArray(value) ? value.join(', ') : value === true ? 'yes' : String(value);
    return [`  ${key.replaceAll('_', ' ')}: ${shown}`];
  });
  return ask.select(
    ['Make this project?', ...chosen].join('\n'),
    [{ value: 'make', label: 'Yes, make it' }, backToLast, drop],
    'make',
  );
}
