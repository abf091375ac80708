import { Failure } from '../../failure.ts';
import type { PromptChoice } from '../../io/io.ts';
import type { ConfigurationIssue, ProjectConfiguration } from '../configuration/configuration.ts';
import { resolveConfiguration } from '../configuration/resolve.ts';
import { summarizeConfiguration } from '../configuration/summary.ts';
import {
  type Question,
  toProjectOptions,
  type WizardAnswers,
  type WizardPrompter,
  wizardQuestions,
} from './questions.ts';

/**
 * The value of the choice "Back", which is the last choice of every list. In a multiple-choice list, it takes precedence over the
 * other selected choices.
 */
const back = '(back)';
const backChoice: PromptChoice = { value: back, label: 'Back', hint: 'return to the previous question' };
const backToLast = { value: 'back', label: 'Back', hint: 'change the answer to the last question' } as const;
const cancel = { value: 'cancel', label: 'Cancel', hint: 'end without writing anything' } as const;

/**
 * Asks all questions about a project, then asks to confirm a summary. The user can go back from each question. @throws
 * `InterruptedError` on Ctrl-C; `Failure` with the reason `declined` if the user declines
 */
export async function askForConfiguration(prompts: WizardPrompter, defaultName: string): Promise<ProjectConfiguration> {
  let answers: WizardAnswers = {};
  /** The latest answer to each question. The wizard proposes it when the user returns to the question. */
  let previousAnswers: WizardAnswers = {};
  const history: WizardAnswers[] = [];
  for (;;) {
    const question = nextQuestion(answers);
    if (question === undefined) {
      const { configuration, issues } = resolveConfiguration(toProjectOptions(answers), defaultName);
      const decision = await (configuration === null ? showIssues(prompts, issues) : confirm(prompts, configuration));
      if (decision === 'create' && configuration !== null) return configuration;
      if (decision === 'cancel') throw new Failure('declined', 'The project was not created. Nothing was written.');
      answers = history.pop() ?? {};
      continue;
    }
    const proposed = previousAnswers[question.name];
    const extraChoices = history.length > 0 ? [backChoice] : [];
    const answer = await question.ask(prompts, { answers, proposed, defaultName, extraChoices });
    if (answer === back) {
      answers = history.pop() ?? {};
      continue;
    }
    const kept = typeof answer === 'string' ? answer : answer.filter((value) => value !== back);
    previousAnswers = { ...previousAnswers, [question.name]: kept };
    if (kept.length < answer.length) {
      answers = history.pop() ?? {};
      continue;
    }
    history.push(answers);
    answers = { ...answers, [question.name]: answer };
  }
}

/** Returns the configuration that results from pressing Enter at every question. @throws `Failure` invalid-configuration */
export async function createRecommendedConfiguration(defaultName: string): Promise<ProjectConfiguration> {
  let answers: WizardAnswers = {};
  for (let question = nextQuestion(answers); question !== undefined; question = nextQuestion(answers)) {
    const context = { answers, proposed: undefined, defaultName, extraChoices: [] };
    answers = { ...answers, [question.name]: await question.ask(acceptDefaults, context) };
  }
  const { configuration, issues } = resolveConfiguration(toProjectOptions(answers), defaultName);
  if (configuration !== null) return configuration;
  const message = 'A project cannot be created in this directory. Nothing was written.';
  throw new Failure('invalid-configuration', message, 'Choose a directory with another name.', { issues });
}

const acceptDefaults: WizardPrompter = {
  text: async (_question, initial) => initial,
  select: async (_question, _choices, initial) => initial,
  multiselect: async (_question, _choices, initial) => initial,
};

function nextQuestion(answers: WizardAnswers): Question | undefined {
  return wizardQuestions.find((one) => !Object.hasOwn(answers, one.name) && one.when(answers));
}

/** Shows that the answers contradict each other, and offers to change the last answer instead of starting over. */
function showIssues(prompts: WizardPrompter, issues: readonly ConfigurationIssue[]): Promise<'cancel' | 'back'> {
  const lines = issues.map(({ path, message }) => `  ${path.replaceAll('_', ' ')}: ${message}`);
  return prompts.select(['These answers do not work together.', ...lines].join('\n'), [backToLast, cancel], 'back');
}

function confirm(prompts: WizardPrompter, configuration: ProjectConfiguration): Promise<'create' | 'cancel' | 'back'> {
  const rows = summarizeConfiguration(configuration);
  const width = Math.max(...rows.map(([label]) => label.length));
  const lines = rows.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`);
  return prompts.select(
    ['Create this project?', ...lines].join('\n'),
    [{ value: 'create', label: 'Create the project' }, backToLast, cancel],
    'create',
  );
}
