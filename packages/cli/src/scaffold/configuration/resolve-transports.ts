import type { Transport } from '../catalogue/transport.ts';
import { callDirections } from '../catalogue/transport.ts';
import {
  findDialInAndDialOutTransports,
  findTransport,
  formatTransportName,
  transportChoices,
  usesHostedRoomForCalls,
} from '../catalogue/transports.ts';
import type { ProjectOptions } from './fields.ts';
import { formatOptionName, type IssueReporter, joinWords, parseEnumeratedOption } from './issues.ts';

/**
 * Maps transport names without a call direction to the name of the setting that contains the direction (dial-in or dial-out).
 */
const directionKeys = {
  hostedrtc_pstn: 'daily_pstn_mode',
  carrier1_hostedrtc_sip: 'twilio_daily_sip_mode',
} as const;
type RequestName = keyof typeof directionKeys;

export function resolveTransports(options: ProjectOptions, addIssue: IssueReporter): readonly Transport[] {
  const names = options.transports ?? [];
  const choices = `${formatOptionName('transports')} takes ${joinWords(transportChoices)}`;
  if (names.length === 0) addIssue('transports', `no transport was given. ${choices}`);
  const chosen: Transport[] = [];
  for (const name of names) {
    const transport = findTransport(name) ?? withDirection(name, options, addIssue);
    if (transport === 'unknown') addIssue('transports', `${JSON.stringify(name)} is unknown. ${choices}`);
    else if (transport !== null && !chosen.includes(transport)) chosen.push(transport);
  }
  checkDirections(options, chosen, addIssue);
  const calls = chosen.filter(usesHostedRoomForCalls);
  if (calls.length > 1) {
    addIssue(
      'transports',
      `${joinWords(calls.map(formatTransportName), 'and')} cannot be used together. Choose one of these transports`,
    );
  }
  return chosen;
}

/**
 * Finds the transport for a name that lacks the call direction, such as `daily_pstn`. A separate setting contains the direction
 * (dial-in or dial-out). Returns null if this setting is missing or invalid, and 'unknown' if no transport has the name.
 */
function withDirection(name: string, options: ProjectOptions, addIssue: IssueReporter): Transport | 'unknown' | null {
  const candidates = findDialInAndDialOutTransports(name);
  const [{ request } = {}] = candidates;
  if (request === undefined || !isRequestName(request.value)) return 'unknown';
  const path = directionKeys[request.value];
  const direction = options[path];
  if (direction === undefined) {
    addIssue(
      path,
      `the direction is missing. ${formatTransportName(request)} needs ${formatOptionName(path)} ${joinWords(callDirections)}`,
    );
  }
  return candidates.find((candidate) => candidate.request?.direction === direction) ?? null;
}

/**
 * Checks the options that set the call direction (dial-in or dial-out) of a transport. The value must be valid, and the user
 * must have chosen the transport. A transport can be chosen by a name that contains a call direction; then, the option must set
 * the same direction.
 */
function checkDirections(options: ProjectOptions, chosen: readonly Transport[], addIssue: IssueReporter): void {
  for (const [name, path] of Object.entries(directionKeys)) {
    const direction = parseEnumeratedOption(callDirections, options[path], path, addIssue);
    if (direction === null) continue;
    const [{ request } = {}] = findDialInAndDialOutTransports(name);
    const label = request === undefined ? name : formatTransportName(request);
    const matching = chosen.filter((transport) => transport.request?.value === name);
    const isRequested = matching.length > 0 || (options.transports ?? []).some((one) => requestOf(one) === name);
    if (!isRequested)
      addIssue(path, `${formatOptionName(path)} can be used only with the transport ${label}, which is not chosen`);
    const opposite = matching.find((transport) => transport.request?.direction !== direction);
    if (opposite !== undefined)
      addIssue(
        path,
        `the direction is ${direction}, but the transport ${formatTransportName(opposite)} has the opposite direction`,
      );
  }
}

function requestOf(name: string): string | undefined {
  return (findTransport(name) ?? findDialInAndDialOutTransports(name)[0])?.request?.value;
}

function isRequestName(value: string): value is RequestName {
  return Object.hasOwn(directionKeys, value);
}
