import type { Transport } from '../catalogue/transport.ts';
import { directions } from '../catalogue/transport.ts';
import {
  displayName,
  findTransport,
  transportChoices,
  transportsRequestedBy,
  usesRoomForCalls,
} from '../catalogue/transports.ts';
import type { ProjectOptions } from './fields.ts';
import { type AddIssue, listed, oneOf, option } from './issues.ts';

/** The two names without a direction, and the key that adds it. */
const directionKeys = {
  hostedrtc_pstn: 'daily_pstn_mode',
  carrier1_hostedrtc_sip: 'twilio_daily_sip_mode',
} as const;
type RequestName = keyof typeof directionKeys;

/** The chosen transports without duplicates, in the order given. */
export function resolveTransports(options: ProjectOptions, addIssue: AddIssue): readonly Transport[] {
  const names = options.transports ?? [];
  const choices = `${option('transports')} takes ${listed(transportChoices)}`;
  if (names.length === 0) addIssue('transports', `is missing: ${choices}`);
  const chosen: Transport[] = [];
  for (const name of names) {
    const transport = findTransport(name) ?? withDirection(name, options, addIssue);
    if (transport === 'unknown') addIssue('transports', `${JSON.stringify(name)} is unknown: ${choices}`);
    else if (transport !== null && !chosen.includes(transport)) chosen.push(transport);
  }
  checkDirections(options, chosen, addIssue);
  const calls = chosen.filter(usesRoomForCalls);
  if (calls.length > 1) {
    addIssue('transports', `${listed(calls.map(displayName), 'and')} cannot be used together: choose one of them`);
  }
  return chosen;
}

/** Combines a name without a direction with the option that gives the direction. */
function withDirection(name: string, options: ProjectOptions, addIssue: AddIssue): Transport | 'unknown' | null {
  const candidates = transportsRequestedBy(name);
  const [{ request } = {}] = candidates;
  if (request === undefined || !isRequestName(request.value)) return 'unknown';
  const path = directionKeys[request.value];
  const direction = options[path];
  if (direction === undefined) {
    addIssue(path, `is missing: ${displayName(request)} needs ${option(path)} ${listed(directions)}`);
  }
  return candidates.find((candidate) => candidate.request?.direction === direction) ?? null;
}

/** Each direction must be known, belong to a chosen transport, and not contradict it. */
function checkDirections(options: ProjectOptions, chosen: readonly Transport[], addIssue: AddIssue): void {
  for (const [name, path] of Object.entries(directionKeys)) {
    const direction = oneOf(directions, options[path], path, addIssue);
    if (direction === null) continue;
    const [{ request } = {}] = transportsRequestedBy(name);
    const label = request === undefined ? name : displayName(request);
    const matching = chosen.filter((transport) => transport.request?.value === name);
    const isRequested = matching.length > 0 || (options.transports ?? []).some((one) => requestOf(one) === name);
    if (!isRequested) addIssue(path, `needs the transport ${label}, which is not chosen`);
    const opposite = matching.find((transport) => transport.request?.direction !== direction);
    if (opposite !== undefined) addIssue(path, `is ${direction}, but the transport is ${displayName(opposite)}`);
  }
}

function requestOf(name: string): string | undefined {
  return (findTransport(name) ?? transportsRequestedBy(name)[0])?.request?.value;
}

function isRequestName(value: string): value is RequestName {
  return Object.hasOwn(directionKeys, value);
}
