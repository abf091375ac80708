import { Failure } from '../../failure.ts';
import type { Ask, Choice } from '../../world.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { resolve } from '../configuration/resolve.ts';
import { type Answers, givenBy, questions } from './questions.ts';

/** Offered by every list but the first question's, as the last choice. */
const back = '(back)';
const backChoice: Choice = { value: back, label: 'Back', hint: 'to the question before' };

/**
 * Asks for everything a project needs, shows it, and lets it be confirmed; each question can be gone back from. Ctrl-C at
 * any of them is an `Interrupted`. Nothing is written here.
 */
export async function askForConfiguration(ask: Ask, defaultName: string): Promise<Configuration> {
  let answers: Answers = {};
  const asked: Answers[] = [];
  for (;;) {
    const question = questions.find((one) => !Object.hasOwn(answers, one.name) && one.when(answers));
    if (question === undefined) {
      const configuration = configurationOf(answers, defaultName);
      const end = await confirmed(ask, configuration);
      if (end === 'make') return configuration;
      if (end === 'drop') throw new Failure('declined', 'Nothing was written.');
      answers = asked.pop() ?? {};
      continue;
    }
    const answer = await question.ask(ask, answers, defaultName, asked.length > 0 ? [backChoice] : []);
    if (answer === back) {
      answers = asked.pop() ?? {};
      continue;
    }
    asked.push(answers);
    answers = { ...answers, [question.name]: answer };
  }
}

function configurationOf(answers: Answers, defaultName: string): Configuration {
  const { configuration, issues } = resolve(givenBy(answers), defaultName);
  if (configuration !== null) return configuration;
  throw new Failure('invalid-configuration', 'These answers do not fit together. Nothing was written.', null, issues);
}

async function confirmed(ask: Ask, configuration: Configuration): Promise<'make' | 'drop' | 'back'> {
  const chosen = Object.entries(configuration).flatMap(([key, value]) => {
    if (value === null || value === false) return [];
    const shown = Array.isArray(value) ? value.join(', ') : value === true ? 'yes' : String(value);
    return [`  ${key.replaceAll('_', ' ')}: ${shown}`];
  });
  return ask.choose(
    ['Make this project?', ...chosen].join('\n'),
    [
      { value: 'make', label: 'Yes, make it' },
      { value: 'back', label: 'Back', hint: 'to the last question' },
      { value: 'drop', label: 'No, write nothing' },
    ],
    'make',
  );
}
