import type { Choice, Prompter } from '../../io/io.ts';
import { machineNeeds } from '../catalogue/machine-needs.ts';
import type { ServiceKind } from '../catalogue/service.ts';
import { servicesOf } from '../catalogue/services.ts';
import { transports } from '../catalogue/transports.ts';
import { reachedByClient } from '../client/client-transports.ts';
import type { Given } from '../configuration/fields.ts';
import { refusalOfName, slugOf } from '../configuration/project-name.ts';

/** What was answered so far, by the question's name. */
export type Answers = Readonly<Record<string, Answer>>;

/** A question, and whether the answers so far raise it. */
export type Question = {
  readonly name: string;
  readonly when: (answers: Answers) => boolean;
  readonly ask: (ask: Prompter, asking: Asking) => Promise<Answer>;
};

type Answer = string | readonly string[];

type Asking = {
  readonly answers: Answers;
  /** What was answered before the question was gone back from. */
  readonly proposed: Answer | undefined;
  readonly defaultName: string;
  /** Choices that a list offers besides. */
  readonly extra: readonly Choice[];
};

const features: readonly (Choice & { readonly webOnly?: true })[] = [
  { value: 'deploy_to_cloud', label: 'Files for a deployment on the service' },
  { value: 'enable_eval', label: 'Evaluations', hint: 'scenarios that talk to the bot' },
  { value: 'transcription', label: 'Log what is said' },
  { value: 'recording', label: 'Record what is said' },
  { value: 'enable_nc', label: 'Filter noise from the incoming audio', hint: 'needs the deployment' },
  { value: 'enable_observability', label: 'Let a debugger inspect the pipeline' },
  { value: 'avatar', label: 'Show a video avatar', webOnly: true },
  { value: 'video_input', label: 'See the camera', webOnly: true },
  { value: 'video_output', label: 'Show pictures', webOnly: true },
];

/** In the order in which they are asked. */
export const questions: readonly Question[] = [
  {
    name: 'project_name',
    when: () => true,
    ask: (ask, { proposed, defaultName }) =>
      ask.text('Name of the project', typeof proposed === 'string' ? proposed : defaultName, nameRefusal),
  },
  list(
    'bot_type',
    'How do people talk to it?',
    () => true,
    () => [
      { value: 'web', label: 'In a browser or an app' },
      { value: 'telephony', label: 'By telephone' },
    ],
  ),
  list('client_framework', 'Generate a web client?', isWeb, () => [
    { value: 'react', label: 'React' },
    { value: 'vanilla', label: 'Plain TypeScript' },
    { value: 'none', label: 'None', hint: 'the bot brings a page to try it with' },
  ]),
  list(
    'client_server',
    'React with',
    ({ client_framework }) => client_framework === 'react',
    () => [
      { value: 'vite', label: 'Vite' },
      { value: 'nextjs', label: 'Next.js' },
    ],
  ),
  list(
    'transport',
    'How is the bot reached?',
    () => true,
    (answers) =>
      transports
        .filter(({ group }) => group === answers['bot_type'])
        .toSorted((a, b) => Number(b.value === simplest) - Number(a.value === simplest))
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
        .filter(({ value }) => isWeb(answers) || value === 'lightrtc' || value === 'hostedrtc')
        .map((transport) => asChoice(transport, answers)),
    ],
  ),
  list(
    'mode',
    'How does the bot process speech?',
    () => true,
    () => [
      { value: 'cascade', label: 'Cascade', hint: 'three services: speech to text, language model, text to speech' },
      { value: 'realtime', label: 'Realtime', hint: 'one service does it all' },
    ],
  ),
  service('stt', 'Which speech-to-text service?', isMode('cascade'), 'deepgram_stt'),
  service('llm', 'Which language model service?', isMode('cascade'), 'openai_responses_llm'),
  service('tts', 'Which text-to-speech service?', isMode('cascade'), 'cartesia_tts'),
  service('realtime', 'Which service?', isMode('realtime'), 'openai_realtime'),
  {
    name: 'features',
    when: () => true,
    ask: (ask, { answers, proposed = ['deploy_to_cloud'], extra }) => {
      const fitting = features.filter(
        ({ webOnly }) => webOnly === undefined || (isWeb(answers) && carriesVideo(answers)),
      );
      const marked = fitting.map(({ value }) => value).filter((value) => proposed.includes(value));
      return ask.multiselect('Features (space marks, Enter goes on)', [...fitting, ...extra], marked);
    },
  },
  service(
    'video',
    'Which video avatar service?',
    ({ features: chosen }) => chosen?.includes('avatar') ?? false,
    'heygen_video',
  ),
];

/** Needs no account anywhere, and works on a machine and on the service alike. */
const simplest = 'lightrtc';
const transportHints: Readonly<Record<string, string>> = {
  lightrtc: 'recommended',
  hostedrtc: 'an account there; the service starts no rooms yet',
  livekit: 'an account or server there; the service starts no rooms yet',
  websocket: 'used by the service’s own page',
};

function asChoice({ value, label }: { readonly value: string; readonly label: string }, answers: Answers): Choice {
  const withoutClient = hasClient(answers) && !reachedByClient(value);
  const hint = withoutClient ? 'not in the web client: its client package is not published' : transportHints[value];
  return { value, label, ...(hint === undefined ? {} : { hint }) };
}

/** The answers as options would say them. */
export function givenBy(answers: Answers): Given {
  const text = (name: string) => (typeof answers[name] === 'string' ? { [name]: answers[name] } : {});
  const chosen = answers['features'] ?? [];
  const ways = [answers['transport'], answers['second_transport']].filter((value) => value !== 'none');
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
    transports: ways.flatMap((value) => value ?? []),
    ...Object.fromEntries(
      features.filter(({ value }) => value !== 'avatar').map(({ value }) => [value, chosen.includes(value)]),
    ),
  };
}

function list(
  name: string,
  question: string | ((answers: Answers) => string),
  when: Question['when'],
  choicesFor: (answers: Answers) => readonly Choice[],
): Question {
  return {
    name,
    when,
    ask: (ask, { answers, proposed, extra }) => {
      const choices = choicesFor(answers);
      const initial = choices.find(({ value }) => value === proposed) ?? choices[0];
      const asked = typeof question === 'string' ? question : question(answers);
      return ask.select(asked, [...choices, ...extra], initial?.value ?? '');
    },
  };
}

function service(kind: ServiceKind, question: string, when: Question['when'], recommended: string): Question {
  return list(`${kind}_service`, question, when, () => {
    const all = servicesOf(kind).map(({ service: offered }) => {
      const { value, label, discouraged, python } = offered;
      const needs = [discouraged, python && `needs Python ${python}`, ...machineNeeds(offered)];
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

function isWeb(answers: Answers): boolean {
  return answers['bot_type'] === 'web';
}

function hasClient(answers: Answers): boolean {
  return isWeb(answers) && answers['client_framework'] !== 'none';
}

/** A client that nothing reaches would be refused at the end. */
function clientNeedsAnother(answers: Answers): boolean {
  return hasClient(answers) && !reachedByClient(String(answers['transport']));
}

function carriesVideo(answers: Answers): boolean {
  const ways = [answers['transport'], answers['second_transport']];
  return transports.some(({ value, video }) => video && ways.includes(value));
}

function nameRefusal(name: string): string | null {
  const refusal = refusalOfName(name);
  return refusal === null ? null : `The name ${refusal}${slugOf(name) === '' ? '' : ` (${slugOf(name)})`}.`;
}
