import { findService, listServices } from '../catalogue/services.ts';
import type { Transport } from '../catalogue/transport.ts';
import { formatTransportName } from '../catalogue/transports.ts';
import {
  type BotType,
  botTypes,
  type ConfigurationIssue,
  type PipelineMode,
  type ProjectConfiguration,
  pipelineModes,
} from './configuration.ts';
import { type ProjectOptions, projectFields } from './fields.ts';
import { formatOptionName, type IssueReporter, joinWords, parseEnumeratedOption } from './issues.ts';
import { findPackageNameProblem } from './package-names.ts';
import { findNameProblem, toSlug } from './project-name.ts';
import { noVideoOnPhoneMessage, resolveServices } from './resolve-services.ts';
import { resolveTransports } from './resolve-transports.ts';
import { resolveWebClientOptions } from './resolve-web-client-options.ts';

export type ResolveResult =
  | { readonly configuration: ProjectConfiguration; readonly issues: readonly [] }
  | { readonly configuration: null; readonly issues: readonly ConfigurationIssue[] };

/**
 * Converts options to a configuration, or lists all missing and invalid options. The project name defaults to `defaultName`,
 * which is the name of the target directory. An existing project keeps a name that a new project cannot have.
 */
export function resolveConfiguration(options: ProjectOptions, defaultName: string, isExisting = false): ResolveResult {
  const issues: ConfigurationIssue[] = [];
  const addIssue: IssueReporter = (path, message) => issues.push({ path, message });
  const name = options.project_name ?? defaultName;
  checkName(name, options, isExisting, addIssue);
  const chosen = resolveTransports(options, addIssue);
  const botType = resolveBotType(options, chosen, addIssue);
  const mode = resolveMode(options, addIssue);
  const services = resolveServices(options, mode, botType, addIssue);
  const client = resolveWebClientOptions(options, botType, chosen, addIssue);
  checkFeatures(options, botType, chosen, addIssue);
  checkVideoInput(options, services.realtime_service, addIssue);
  if (issues.length > 0 || mode === null) return { configuration: null, issues: sortByField(issues) };
  const direction = (request: string) =>
    chosen.find((one) => one.request?.value === request)?.request?.direction ?? null;
  const configuration: ProjectConfiguration = {
    project_name: name,
    bot_type: botType,
    transports: chosen.map(({ value }) => value),
    mode,
    ...services,
    ...client,
    daily_pstn_mode: direction('hostedrtc_pstn'),
    twilio_daily_sip_mode: direction('carrier1_hostedrtc_sip'),
    video_input: options.video_input ?? false,
    video_output: (options.video_output ?? false) || services.video_service !== null,
    recording: options.recording ?? false,
    transcription: options.transcription ?? false,
    deploy_to_cloud: options.deploy_to_cloud ?? true,
    enable_nc: options.enable_nc ?? false,
    enable_observability: options.enable_observability ?? false,
    enable_eval: options.enable_eval ?? false,
  };
  return { configuration, issues: [] };
}

function checkName(name: string, options: ProjectOptions, isExisting: boolean, addIssue: IssueReporter): void {
  const problem = findNameProblem(name) ?? (isExisting ? null : findPackageNameProblem(toSlug(name)));
  if (problem === null) return;
  const hint =
    options.project_name === undefined
      ? `. Give a name other than the directory’s with ${formatOptionName('project_name')}`
      : '';
  addIssue('project_name', `${JSON.stringify(shorten(name))} ${problem}${hint}`);
}

function shorten(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}

function resolveBotType(options: ProjectOptions, chosen: readonly Transport[], addIssue: IssueReporter): BotType {
  const requested = parseEnumeratedOption(botTypes, options.bot_type, 'bot_type', addIssue);
  const phones = chosen.filter(({ group }) => group === 'telephony');
  if (requested === 'web' && phones.length > 0) {
    addIssue('bot_type', `a web bot cannot have the transport ${joinWords(phones.map(formatTransportName), 'and')}`);
  }
  return requested ?? (phones.length > 0 ? 'telephony' : 'web');
}

function resolveMode(options: ProjectOptions, addIssue: IssueReporter): PipelineMode | null {
  if (options.mode === undefined)
    addIssue('mode', `the mode is missing. Set ${formatOptionName('mode')} to ${joinWords(pipelineModes)}`);
  return parseEnumeratedOption(pipelineModes, options.mode, 'mode', addIssue);
}

function checkFeatures(
  options: ProjectOptions,
  botType: BotType,
  chosen: readonly Transport[],
  addIssue: IssueReporter,
): void {
  for (const path of ['video_input', 'video_output'] as const) {
    if (options[path] === true && botType === 'telephony') addIssue(path, noVideoOnPhoneMessage);
  }
  const isAudioOnly = chosen.length > 0 && !chosen.some(({ video }) => video);
  for (const path of ['video_input', 'video_output', 'video_service'] as const) {
    const isRequested = options[path] === true || (path === 'video_service' && options[path] !== undefined);
    if (isRequested && botType === 'web' && isAudioOnly)
      addIssue(
        path,
        `video needs a transport that carries video, but ${joinWords(chosen.map(formatTransportName), 'and')} carries only audio`,
      );
  }
  if (options.enable_nc === true && options.deploy_to_cloud === false) {
    addIssue('enable_nc', 'noise cancellation can be used only with --deploy-to-cloud');
  }
}

/**
 * Reports an issue if the realtime service does not support video input. Mode `cascade` always supports video input, because
 * its language model has a tool that requests camera frames.
 */
function checkVideoInput(options: ProjectOptions, realtime: string | null, addIssue: IssueReporter): void {
  if (options.video_input !== true || realtime === null) return;
  if (findService('realtime', realtime)?.service.acceptsVideo === true) return;
  const supported = listServices('realtime').filter(({ service }) => service.acceptsVideo === true);
  addIssue(
    'video_input',
    `video input is not supported by ${realtime}. Choose ${joinWords(supported.map(({ service }) => service.value))}`,
  );
}

function sortByField(issues: readonly ConfigurationIssue[]): readonly ConfigurationIssue[] {
  const order = Object.keys(projectFields);
  return [...issues].sort((a, b) => order.indexOf(a.path) - order.indexOf(b.path));
}
