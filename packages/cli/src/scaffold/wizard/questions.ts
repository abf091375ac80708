import type { PromptChoice, Prompter } from '../../io/io.ts';
import { listMachineRequirements } from '../catalogue/machine-needs.ts';
import { listServices } from '../catalogue/services.ts';
import type { Transport } from '../catalogue/transport.ts';
import { findTransport, formatTransportName, transports } from '../catalogue/transports.ts';
import type { ServiceKind } from '../catalogue/vendor-service.ts';
import type { ProjectOptions } from '../configuration/fields.ts';
import { findPackageNameProblem } from '../configuration/package-names.ts';
import { findNameProblem, toSlug } from '../configuration/project-name.ts';
import { featureLabels } from '../configuration/summary.ts';

export type WizardPrompter = Pick<Prompter, 'text' | 'select' | 'multiselect'>;

export type WizardAnswers = Readonly<Record<string, Answer>>;

/** A question of the wizard. `when` decides, from the previous answers, whether the question is asked. */
export type Question = {
  readonly name: string;
  readonly when: (answers: WizardAnswers) => boolean;
  readonly ask: (prompts: WizardPrompter, context: QuestionContext) => Promise<Answer>;
};

type Answer = string | readonly string[];

type QuestionContext = {
  readonly answers: WizardAnswers;
  /** The user's earlier answer to this question. Undefined if the wizard asks the question for the first time. */
  readonly proposed: Answer | undefined;
  readonly defaultName: string;
  readonly extraChoices: readonly PromptChoice[];
};

const features: readonly (PromptChoice & { readonly webOnly?: true })[] = [
  { value: 'deploy_to_cloud', label: featureLabels.deploy_to_cloud },
  { value: 'enable_eval', label: featureLabels.enable_eval, hint: 'adds test scenarios that talk to the bot' },
  { value: 'transcription', label: featureLabels.transcription },
  { value: 'recording', label: featureLabels.recording },
  { value: 'enable_nc', label: featureLabels.enable_nc, hint: 'requires deployment files' },
  { value: 'enable_observability', label: featureLabels.enable_observability },
  { value: 'avatar', label: 'Video avatar', webOnly: true },
  { value: 'video_input', label: featureLabels.video_input, webOnly: true },
  { value: 'video_output', label: featureLabels.video_output, webOnly: true },
];

/** The questions in the order in which the wizard asks them. The default answers lead to a bot that runs. */
export const wizardQuestions: readonly Question[] = [
  {
    name: 'project_name',
    when: () => true,
    ask: (prompts, { proposed, defaultName }) =>
      prompts.text('Name of the project', typeof proposed === 'string' ? proposed : defaultName, nameRefusal),
  },
  list(
    'bot_type',
    'How do people talk to the bot?',
    () => true,
    () => [
      { value: 'web', label: 'In a browser or an app' },
      { value: 'telephony', label: 'By telephone' },
    ],
  ),
  list('client_framework', 'Generate a web client?', isWeb, () => [
    { value: 'react', label: 'React' },
    { value: 'vanilla', label: 'Plain TypeScript' },
    { value: 'none', label: 'None', hint: 'the bot itself serves a test page' },
  ]),
  list(
    'client_server',
    'Which build tool?',
    ({ client_framework }) => client_framework === 'react',
    () => [
      { value: 'vite', label: 'Vite' },
      { value: 'nextjs', label: 'Next.js' },
    ],
  ),
  list(
    'transport',
    'Which transport?',
    () => true,
    (answers) =>
      transports
        .filter(({ group }) => group === answers['bot_type'])
        .toSorted((a, b) => Number(b.value === recommendedTransport) - Number(a.value === recommendedTransport))
        .map((transport) => asChoice(transport, answers)),
  ),
  list(
    'second_transport',
    (answers) =>
      clientNeedsAnother(answers) ? 'Which transport does the client use?' : 'Another transport, for testing?',
    () => true,
    (answers) => [
      ...(clientNeedsAnother(answers) ? [] : [{ value: 'none', label: 'No' }]),
      ...transports
        .filter(({ group, value }) => group === 'web' && value !== answers['transport'])
        .filter(({ testsPhoneBots }) => isWeb(answers) || testsPhoneBots)
        .map((transport) => asChoice(transport, answers)),
    ],
  ),
  list(
    'mode',
    'How does the bot process speech?',
    () => true,
    () => [
      {
        value: 'cascade',
        label: 'Cascade',
        hint: 'uses a speech-to-text, a language model and a text-to-speech service',
      },
      { value: 'realtime', label: 'Realtime', hint: 'uses one speech-to-speech service' },
    ],
  ),
  service('stt', 'Which speech-to-text service?', isMode('cascade'), 'deepgram_stt'),
  service('llm', 'Which language model service?', isMode('cascade'), 'openai_responses_llm'),
  service('tts', 'Which text-to-speech service?', isMode('cascade'), 'cartesia_tts'),
  service('realtime', 'Which speech-to-speech service?', isMode('realtime'), 'openai_realtime'),
  {
    name: 'features',
    when: () => true,
    ask: (prompts, { answers, proposed = ['deploy_to_cloud'], extraChoices }) => {
      const available = features.filter(
        ({ webOnly }) => webOnly === undefined || (isWeb(answers) && carriesVideo(answers)),
      );
      const initial = available.map(({ value }) => value).filter((value) => proposed.includes(value));
      return prompts.multiselect('Features (Space selects, Enter continues)', [...available, ...extraChoices], initial);
    },
  },
  service(
    'video',
    'Which video avatar service?',
    ({ features: chosen }) => chosen?.includes('avatar') ?? false,
    'heygen_video',
  ),
];

/** The recommended transport needs no account and works both on the user's machine and on the service. */
const recommendedTransport = 'lightrtc';

function asChoice(transport: Transport, answers: WizardAnswers): PromptChoice {
  const { value, about, client } = transport;
  const isMissingInClient = hasClient(answers) && client === undefined;
  const advice = value === recommendedTransport ? 'recommended' : transport.needs;
  const note = isMissingInClient ? 'not in the web client: its client package is not published' : advice;
  return { value, label: formatTransportName(transport), hint: note === undefined ? about : `${about}; ${note}` };
}

export function toProjectOptions(answers: WizardAnswers): ProjectOptions {
  const text = (name: string) => (typeof answers[name] === 'string' ? { [name]: answers[name] } : {});
  const chosen = answers['features'] ?? [];
  const chosenTransports = [answers['transport'], answers['second_transport']].filter((value) => value !== 'none');
  return {
    ...text('project_name'),
    ...text('bot_type'),
    ...text('client_framework'),
    ...text('client_server'),
    ...text('mode'),
    ...text('stt_service'),
    ...text('llm_service'),
    ...text('tts_service'),
    ...text('realtime_service'),
    ...text('video_service'),
    transports: chosenTransports.flatMap((value) => value ?? []),
    ...Object.fromEntries(
      features.filter(({ value }) => value !== 'avatar').map(({ value }) => [value, chosen.includes(value)]),
    ),
  };
}

function list(
  name: string,
  question: string | ((answers: WizardAnswers) => string),
  when: Question['when'],
  choicesFor: (answers: WizardAnswers) => readonly PromptChoice[],
): Question {
  return {
    name,
    when,
    ask: (prompts, { answers, proposed, extraChoices }) => {
      const choices = choicesFor(answers);
      const initial = choices.find(({ value }) => value === proposed) ?? choices[0];
      const text = typeof question === 'string' ? question : question(answers);
      return prompts.select(text, [...choices, ...extraChoices], initial?.value ?? '');
    },
  };
}

function service(kind: ServiceKind, question: string, when: Question['when'], recommended: string): Question {
  return list(`${kind}_service`, question, when, () => {
    const all = listServices(kind).map(({ service: entry }) => {
      const { value, label, discouraged, python } = entry;
      const needs = [discouraged, python && `needs Python ${python}`, ...listMachineRequirements(entry)];
      const hints = needs.filter((hint) => hint);
      return { value, label, ...(hints.length === 0 ? {} : { hint: hints.join('; ') }) };
    });
    const first = all.filter(({ value }) => value === recommended).map((one) => ({ ...one, hint: 'recommended' }));
    return [...first, ...all.filter(({ value }) => value !== recommended)];
  });
}

function isMode(mode: string): Question['when'] {
  return (answers) => answers['mode'] === mode;
}

function isWeb(answers: WizardAnswers): boolean {
  return answers['bot_type'] === 'web';
}

function hasClient(answers: WizardAnswers): boolean {
  return isWeb(answers) && answers['client_framework'] !== 'none';
}

/**
 * Returns true if the project has a web client that cannot use the chosen transport. The project then needs a second transport.
 */
function clientNeedsAnother(answers: WizardAnswers): boolean {
  return hasClient(answers) && findTransport(String(answers['transport']))?.client === undefined;
}

function carriesVideo(answers: WizardAnswers): boolean {
  const chosen = [answers['transport'], answers['second_transport']];
  return transports.some(({ value, video }) => video && chosen.includes(value));
}

function nameRefusal(name: string): string | null {
  const problem = findNameProblem(name) ?? findPackageNameProblem(toSlug(name));
  return problem === null ? null : `The name ${problem}${toSlug(name) === '' ? '' : ` (${toSlug(name)})`}.`;
}
