import { listServices } from '../../src/scaffold/catalogue/services.ts';
import { transports, usesHostedRoomForCalls } from '../../src/scaffold/catalogue/transports.ts';
import { serviceKinds } from '../../src/scaffold/catalogue/vendor-service.ts';
import type { ProjectConfiguration } from '../../src/scaffold/configuration/configuration.ts';
import type { ProjectOptions } from '../../src/scaffold/configuration/fields.ts';
import { resolveConfiguration } from '../../src/scaffold/configuration/resolve.ts';

const services = { stt_service: 'deepgram_stt', llm_service: 'openai_llm', tts_service: 'cartesia_tts' };
const cascade: ProjectOptions = { transports: ['lightrtc'], mode: 'cascade', ...services };
const realtime: ProjectOptions = {
  transports: ['lightrtc'],
  mode: 'realtime',
  realtime_service: 'gemini_live_realtime',
};
const everything: ProjectOptions = {
  recording: true,
  transcription: true,
  enable_nc: true,
  enable_observability: true,
  enable_eval: true,
};

const eachService = serviceKinds.flatMap((kind) =>
  listServices(kind).map(({ service: { value } }): [string, ProjectOptions] => [
    value,
    { ...(kind === 'realtime' ? { ...realtime } : cascade), [`${kind}_service`]: value },
  ]),
);
const pairs = transports
  .flatMap((one, index) => transports.slice(index).map((other) => [one, other] as const))
  .filter(([one, other]) => one === other || !usesHostedRoomForCalls(one) || !usesHostedRoomForCalls(other))
  .map(([one, other]) => [one.value, other.value]);
const eachPair = pairs.flatMap((values): [string, ProjectOptions][] => [
  [`${values.join(' and ')}, cascade`, { ...cascade, transports: values }],
  [`${values.join(' and ')}, realtime, with everything`, { ...realtime, ...everything, transports: values }],
  [`${values.join(' and ')}, cascade, with everything`, { ...cascade, ...everything, transports: values }],
]);
/** The projects for each combination of two transports: three with different features, one after the other. */
export const transportPairNames: readonly string[] = eachPair.map(([name]) => name);
const webTransports = ['lightrtc', 'hostedrtc', 'livekit', 'websocket'];
const eachFeature: [string, ProjectOptions][] = [
  ...Object.keys(everything).map((name): [string, ProjectOptions] => [name, { ...cascade, [name]: true }]),
  ['video_input', { ...cascade, transports: webTransports, video_input: true, enable_eval: true }],
  ['video_output', { ...cascade, transports: webTransports, video_output: true }],
  ...transports.map(({ value }): [string, ProjectOptions] => [
    `${value}, no deployment`,
    { ...cascade, transports: [value], deploy_to_cloud: false },
  ]),
  [
    'a face, noise cancellation and a camera',
    { ...realtime, ...everything, transports: webTransports, video_service: 'heygen_video', video_input: true },
  ],
];
const names: [string, ProjectOptions][] = [
  'Bot "the best"',
  "it's",
  'C:\\bots\\new',
  'Zoë’s Bot №1',
  '"""',
  '{{From}} $HOME `id`',
  '42',
  'a'.repeat(100),
  '# <b>bold</b> `code`',
].map((name) => [
  `the name ${name.slice(0, 20)}`,
  {
    ...cascade,
    ...everything,
    project_name: `x1 ${name}`.slice(0, 100),
    transports: ['hostedrtc_pstn_dialout', 'lightrtc'],
  },
]);

/** Labeled configurations that cover every service, every pair of transports, every feature and unusual names. */
export const projectMatrix: readonly (readonly [name: string, configuration: ProjectConfiguration])[] = [
  ...eachService,
  ...eachPair,
  ...eachFeature,
  ...names,
].map(([name, given]) => {
  const { configuration, issues } = resolveConfiguration(given, 'demo');
  if (configuration === null) throw new Error(`The configuration "${name}" is invalid: ${JSON.stringify(issues)}`);
  return [name, configuration];
});
