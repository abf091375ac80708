import type { Transport } from '../catalogue/transport.ts';
import { directions } from '../catalogue/transport.ts';
import { findTransport, throughRoom, transports, transportsRequestedBy } from '../catalogue/transports.ts';
import type { Given } from './fields.ts';
import { type AddIssue, listed, oneOf, option } from './issues.ts';

/** The two names that say no direction, and the key that says it. */
const requests = {
  hostedrtc_pstn: 'daily_pstn_mode',
  carrier1_hostedrtc_sip: 'twilio_daily_sip_mode',
} as const;
type Request = keyof typeof requests;

/** The chosen transports, each once, in the order given. */
export function resolveTransports(given: Given, addIssue: AddIssue): readonly Transport[] {
  const values = given.transports ?? [];
  if (values.length === 0) addIssue('transports', `is missing: ${option('transports')} takes ${listed(allValues())}`);
  const chosen: Transport[] = [];
  for (const value of values) {
    const found = findTransport(value) ?? directed(value, given, addIssue);
    if (found === 'unknown') {
      addIssue(
        'transports',
        `${JSON.stringify(value)} is unknown: ${option('transports')} takes ${listed(allValues())}`,
      );
    } else if (found !== null && !chosen.includes(found)) chosen.push(found);
  }
  checkDirections(given, chosen, addIssue);
  const calls = chosen.filter(throughRoom);
  if (calls.length > 1) {
    addIssue('transports', `${listed(calls.map(({ value }) => value)).replace(' or ', ' and ')} exclude each other`);
  }
  return chosen;
}

/** A name without a direction, with the direction that its mode says. */
function directed(value: string, given: Given, addIssue: AddIssue): Transport | 'unknown' | null {
  const candidates = transportsRequestedBy(value);
  const request = candidates[0]?.request?.value;
  if (request === undefined || !isRequest(request)) return 'unknown';
  const path = requests[request];
  const mode = given[path];
  if (mode === undefined) addIssue(path, `is missing: ${request} needs ${option(path)} ${listed(directions)}`);
  return candidates.find((candidate) => candidate.request?.direction === mode) ?? null;
}

/** A mode has to be one, to have its transport, and not to say the contrary of it. */
function checkDirections(given: Given, chosen: readonly Transport[], addIssue: AddIssue): void {
  for (const [request, path] of Object.entries(requests)) {
    const mode = oneOf(directions, given[path], path, addIssue);
    if (mode === null) continue;
    const own = chosen.filter((transport) => transport.request?.value === request);
    const asked = own.length > 0 || (given.transports ?? []).some((value) => requestOf(value) === request);
    if (!asked) addIssue(path, `says a direction, but the transport ${request} is not chosen`);
    const contrary = own.find((transport) => transport.request?.direction !== mode);
    if (contrary !== undefined) addIssue(path, `says ${mode}, and the transport is ${contrary.value}`);
  }
}

function requestOf(value: string): string | undefined {
  return (findTransport(value) ?? transportsRequestedBy(value)[0])?.request?.value;
}

function isRequest(value: string): value is Request {
  return Object.hasOwn(requests, value);
}

function allValues(): readonly string[] {
  return [...transports.map(({ value }) => value), ...Object.keys(requests)].sort();
}
