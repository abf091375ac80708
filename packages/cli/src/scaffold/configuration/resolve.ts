import { findService, servicesOf } from '../catalogue/services.ts';
import type { Transport } from '../catalogue/transport.ts';
import { type BotType, botTypes, type Configuration, type Issue, type Mode, modes } from './configuration.ts';
import { fields, type Given } from './fields.ts';
import { type AddIssue, listed, oneOf, option } from './issues.ts';
import { refusalOfName } from './project-name.ts';
import { resolveClient } from './resolve-client.ts';
import { noPictures, resolveServices } from './resolve-services.ts';
import { resolveTransports } from './resolve-transports.ts';

export type Resolved =
  | { readonly configuration: Configuration; readonly issues: readonly [] }
  | { readonly configuration: null; readonly issues: readonly Issue[] };

/**
 * Makes a configuration of what was said, or tells all that is missing and wrong at once.
 * `defaultName` stands for a name that was not given: the last part of the target directory.
 */
export function resolve(given: Given, defaultName: string): Resolved {
  const issues: Issue[] = [];
  const addIssue: AddIssue = (path, message) => issues.push({ path, message });
  const name = given.project_name ?? defaultName;
  const refusal = refusalOfName(name);
  if (refusal !== null) {
    const way =
      given.project_name === undefined ? `; ${option('project_name')} gives another than the directory’s` : '';
    addIssue('project_name', `${JSON.stringify(begin(name))} ${refusal}${way}`);
  }
  const chosen = resolveTransports(given, addIssue);
  const botType = resolveBotType(given, chosen, addIssue);
  const mode = resolveMode(given, addIssue);
  const services = resolveServices(given, mode, botType, addIssue);
  const client = resolveClient(given, botType, chosen, addIssue);
  checkFeatures(given, botType, chosen, addIssue);
  checkSight(given, services.realtime_service, addIssue);
  if (issues.length > 0 || mode === null) return { configuration: null, issues: inOrder(issues) };
  const direction = (request: string) =>
    chosen.find((one) => one.request?.value === request)?.request?.direction ?? null;
  const configuration: Configuration = {
    project_name: name,
    bot_type: botType,
    transports: chosen.map(({ value }) => value),
    mode,
    ...services,
    ...client,
    daily_pstn_mode: direction('hostedrtc_pstn'),
    twilio_daily_sip_mode: direction('carrier1_hostedrtc_sip'),
    video_input: given.video_input ?? false,
    video_output: (given.video_output ?? false) || services.video_service !== null,
    recording: given.recording ?? false,
    transcription: given.transcription ?? false,
    deploy_to_cloud: given.deploy_to_cloud ?? true,
    enable_nc: given.enable_nc ?? false,
    enable_observability: given.enable_observability ?? false,
    enable_eval: given.enable_eval ?? false,
  };
  return { configuration, issues: [] };
}

function resolveBotType(given: Given, chosen: readonly Transport[], addIssue: AddIssue): BotType {
  const asked = oneOf(botTypes, given.bot_type, 'bot_type', addIssue);
  const phones = chosen.filter(({ group }) => group === 'telephony');
  if (asked === 'web' && phones.length > 0) {
    addIssue('bot_type', `cannot be web with the transport ${listed(phones.map(({ value }) => value))}`);
  }
  return asked ?? (phones.length > 0 ? 'telephony' : 'web');
}

/** Enough of a name to know it by. */
function begin(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}

function resolveMode(given: Given, addIssue: AddIssue): Mode | null {
  if (given.mode === undefined) addIssue('mode', `is missing: ${option('mode')} takes ${listed(modes)}`);
  return oneOf(modes, given.mode, 'mode', addIssue);
}

function checkFeatures(given: Given, botType: BotType, chosen: readonly Transport[], addIssue: AddIssue): void {
  for (const path of ['video_input', 'video_output'] as const) {
    if (given[path] === true && botType === 'telephony') addIssue(path, noPictures);
  }
  const blind = chosen.length > 0 && !chosen.some(({ video }) => video);
  for (const path of ['video_input', 'video_output', 'video_service'] as const) {
    const wanted = given[path] === true || (path === 'video_service' && given[path] !== undefined);
    if (wanted && botType === 'web' && blind)
      addIssue(path, `cannot be had with ${listed(chosen.map(({ value }) => value))}`);
  }
  if (given.enable_nc === true && given.deploy_to_cloud === false) {
    addIssue('enable_nc', 'needs the cloud deployment');
  }
}

/** A camera that nothing looks at would be switched on for nothing. The model of a cascade gets a tool to look with. */
function checkSight(given: Given, realtime: string | null, addIssue: AddIssue): void {
  if (given.video_input !== true || realtime === null) return;
  if (findService('realtime', realtime)?.service.sees === true) return;
  const seeing = servicesOf('realtime').filter(({ service }) => service.sees === true);
  addIssue(
    'video_input',
    `${realtime} does not look at video; ${listed(seeing.map(({ service }) => service.value))} do`,
  );
}

/** In the order of the configuration's keys. */
function inOrder(issues: readonly Issue[]): readonly Issue[] {
  const order = Object.keys(fields);
  return [...issues].sort((a, b) => order.indexOf(a.path) - order.indexOf(b.path));
}
